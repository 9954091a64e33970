//! A reader of Protobuf's text format, without a schema.

/// A message: its fields in order, which may repeat.
#[derive(Clone, Debug, Default)]
pub struct Message(Vec<(String, Field)>);

/// The value of a field.
#[derive(Clone, Debug)]
pub enum Field {
    Message(Message),
    Text(Vec<u8>),
    /// A number, a name of an enum, or a boolean.
    Word(String),
}

impl Message {
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.0.iter().map(|(name, field)| (name.as_str(), field))
    }

    pub fn get(&self, name: &str) -> Option<&Field> {
        self.fields().find(|(found, _)| *found == name).map(|(_, field)| field)
    }

    pub fn messages<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Message> {
        self.fields().filter(move |(found, _)| *found == name).filter_map(|(_, field)| match field {
            Field::Message(message) => Some(message),
            _ => None,
        })
    }

    pub fn message(&self, name: &str) -> Option<&Message> {
        self.get(name).and_then(|field| if let Field::Message(message) = field { Some(message) } else { None })
    }

    pub fn word(&self, name: &str) -> &str {
        if let Some(Field::Word(word)) = self.get(name) { word } else { "" }
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        if let Some(Field::Text(text)) = self.get(name) { text.clone() } else { Vec::new() }
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("UTF-8")
    }
}

pub fn read(text: &str) -> Message {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let message = reader.message(None);
    assert_eq!(reader.at, text.len());
    message
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'#') => self.at += self.bytes[self.at..].iter().take_while(|byte| **byte != b'\n').count(),
                Some(byte) if byte.is_ascii_whitespace() || matches!(byte, b',' | b';') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn message(&mut self, end: Option<u8>) -> Message {
        let mut message = Message::default();
        while self.peek() != end {
            let name = self.name();
            if self.peek() == Some(b':') {
                self.at += 1;
            }
            if self.peek() == Some(b'[') {
                self.at += 1;
                while self.peek() != Some(b']') {
                    let field = self.field();
                    message.0.push((name.clone(), field));
                }
                self.at += 1;
            } else {
                let field = self.field();
                message.0.push((name, field));
            }
        }
        self.at += usize::from(end.is_some());
        message
    }

    fn name(&mut self) -> String {
        if self.peek() == Some(b'[') {
            let length = self.bytes[self.at..].iter().take_while(|byte| **byte != b']').count() + 1;
            self.at += length;
            return String::from_utf8_lossy(&self.bytes[self.at - length..self.at]).into_owned();
        }
        self.word()
    }

    fn word(&mut self) -> String {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-+".contains(byte);
        let length = self.bytes[self.at..].iter().take_while(|byte| is_part(byte)).count();
        assert!(
            length > 0,
            "at {}: {}",
            self.at,
            String::from_utf8_lossy(&self.bytes[self.at..(self.at + 40).min(self.bytes.len())])
        );
        self.at += length;
        String::from_utf8_lossy(&self.bytes[self.at - length..self.at]).into_owned()
    }

    fn field(&mut self) -> Field {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                Field::Message(self.message(Some(b'}')))
            }
            Some(b'<') => {
                self.at += 1;
                Field::Message(self.message(Some(b'>')))
            }
            Some(b'"' | b'\'') => {
                let mut text = Vec::new();
                while let Some(quote @ (b'"' | b'\'')) = self.peek() {
                    self.at += 1;
                    self.string(quote, &mut text);
                }
                Field::Text(text)
            }
            _ => Field::Word(self.word()),
        }
    }

    fn next(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn string(&mut self, quote: u8, text: &mut Vec<u8>) {
        loop {
            match self.next() {
                byte if byte == quote => return,
                b'\\' => match self.next() {
                    b'n' => text.push(b'\n'),
                    b't' => text.push(b'\t'),
                    b'r' => text.push(b'\r'),
                    b'a' => text.push(7),
                    b'b' => text.push(8),
                    b'f' => text.push(12),
                    b'v' => text.push(11),
                    b'x' => {
                        let value = self.number(16, 2);
                        text.push(value as u8);
                    }
                    kind @ (b'u' | b'U') => {
                        let value = self.number(16, if kind == b'u' { 4 } else { 8 });
                        let character = char::from_u32(value).expect("a character");
                        text.extend(character.to_string().as_bytes());
                    }
                    b'0'..=b'7' => {
                        self.at -= 1;
                        let value = self.number(8, 3);
                        text.push(value as u8);
                    }
                    other => text.push(other),
                },
                byte => text.push(byte),
            }
        }
    }

    fn number(&mut self, radix: u32, digits: usize) -> u32 {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = (self.bytes[self.at] as char).to_digit(radix) else {
                break;
            };
            value = value * radix + digit;
            self.at += 1;
        }
        value
    }
}
