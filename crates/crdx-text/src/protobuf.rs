//! Reads the fields of Protobuf messages in the wire format, with the errors of gogo/protobuf's generated decoders
//! (`generated.pb.go`).

/// The encoded value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Wire<'b> {
    /// A variable-length integer.
    Number(u64),
    /// Eight bytes, little-endian.
    Eight([u8; 8]),
    /// A text, bytes or a message.
    Bytes(&'b [u8]),
    /// Four bytes, little-endian.
    Four([u8; 4]),
}

/// An error of the generated decoders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A message, entry or value is longer than the bytes.
    #[error("unexpected EOF")]
    UnexpectedEnd,
    /// An integer has more than ten bytes.
    #[error("proto: integer overflow")]
    IntegerOverflow,
    /// A length, or the position after it, exceeds an int64.
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    /// An unknown field is the end of a group.
    #[error("proto: unexpected end of group")]
    UnexpectedEndOfGroup,
    /// The wire type of an unknown field does not exist.
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u64),
    /// A field is the end of a group.
    #[error("proto: {message}: wiretype end group for non-group")]
    EndGroup {
        /// The name of the message in Go.
        message: &'static str,
    },
    /// The number of a field is not positive.
    #[error("proto: {message}: illegal tag {number} (wire type {tag})")]
    IllegalTag {
        /// The name of the message in Go.
        message: &'static str,
        /// The number of the field, which has 32 bits in Go.
        number: i32,
        /// The number and the wire type as they are encoded; the message calls them the wire type.
        tag: u64,
    },
    /// A field has another wire type than its Go type.
    #[error("proto: wrong wireType = {wire} for field {field}")]
    WrongWireType {
        /// The encoded wire type.
        wire: u64,
        /// The name of the field in Go.
        field: String,
    },
    /// Messages are nested too deeply. Go has no such limit.
    #[error("exceeded max depth")]
    TooDeep,
}

/// The fields of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageReader<'b> {
    message: &'b [u8],
    at: usize,
}

/// The members of a map entry.
#[derive(Clone, Copy, Debug)]
pub struct MapEntryReader<'b> {
    /// The reader of the message that has the map, before the next member of the entry.
    reader: MessageReader<'b>,
    /// Where the entry ends in the message.
    end: usize,
}

impl<'b> MessageReader<'b> {
    /// A reader of a message.
    pub fn new(message: &'b [u8]) -> Self {
        Self { message, at: 0 }
    }

    /// Reads the number and the value of the next field that `knows` accepts, and skips others; `None` at the end.
    /// `knows` is called with the number and the wire type of a field, and returns an error if they do not match.
    ///
    /// # Errors
    /// Returns an error for malformed bytes; some errors contain the name of the `message`.
    pub fn known(
        &mut self,
        message: &'static str,
        mut knows: impl FnMut(u64, u64) -> Result<bool, Error>,
    ) -> Result<Option<(u64, Wire<'b>)>, Error> {
        while self.at < self.message.len() {
            let start = self.at;
            let tag = self.number()?;
            let (number, wire) = ((tag >> 3) as i32, tag & 7);
            if wire == 4 {
                return Err(Error::EndGroup { message });
            }
            if number <= 0 {
                return Err(Error::IllegalTag { message, number, tag });
            }
            let number = u64::from(number.unsigned_abs());
            if knows(number, wire)? {
                return Ok(Some((number, self.value(wire)?)));
            }
            self.at = start;
            self.skip(self.message.len())?;
        }
        Ok(None)
    }

    /// The members of a map entry, which is the value that was read last.
    pub fn entry(&self, entry: &[u8]) -> MapEntryReader<'b> {
        let start = self.at.saturating_sub(entry.len());
        MapEntryReader { reader: Self { at: start, ..*self }, end: self.at }
    }

    /// Skips a field or a group, which must end before `limit` (`skipGenerated`).
    fn skip(&mut self, limit: usize) -> Result<(), Error> {
        let mut depth = 0_usize;
        loop {
            let tag = self.number()?;
            match tag & 7 {
                0 => drop(self.number()?),
                1 => self.at = self.after(8)?,
                2 => {
                    let length = self.length()?;
                    self.at = self.after(length)?;
                }
                3 => depth += 1,
                4 => depth = depth.checked_sub(1).ok_or(Error::UnexpectedEndOfGroup)?,
                5 => self.at = self.after(4)?,
                wire => return Err(Error::IllegalWireType(wire)),
            }
            if depth == 0 {
                return if self.at > limit { Err(Error::UnexpectedEnd) } else { Ok(()) };
            }
        }
    }

    /// Reads a value of a wire type.
    fn value(&mut self, wire: u64) -> Result<Wire<'b>, Error> {
        Ok(match wire {
            0 => Wire::Number(self.number()?),
            1 => Wire::Eight(self.take(8)?.try_into().unwrap_or_default()),
            2 => Wire::Bytes(self.bytes()?),
            5 => Wire::Four(self.take(4)?.try_into().unwrap_or_default()),
            other => return Err(Error::IllegalWireType(other)),
        })
    }

    /// Reads a length and as many bytes.
    fn bytes(&mut self) -> Result<&'b [u8], Error> {
        let length = self.length()?;
        self.take(length)
    }

    fn length(&mut self) -> Result<usize, Error> {
        let length = i64::try_from(self.number()?).map_err(|_| Error::NegativeLength)?;
        usize::try_from(length).map_err(|_| Error::UnexpectedEnd)
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.message.get(self.at).ok_or(Error::UnexpectedEnd)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Error::IntegerOverflow)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Error> {
        let end = self.after(length)?;
        let taken = self.message.get(self.at..end).ok_or(Error::UnexpectedEnd)?;
        self.at = end;
        Ok(taken)
    }

    /// The position `length` bytes further, which must be an int64.
    fn after(&self, length: usize) -> Result<usize, Error> {
        let end = self.at.checked_add(length).ok_or(Error::NegativeLength)?;
        if i64::try_from(end).is_ok() { Ok(end) } else { Err(Error::NegativeLength) }
    }
}

impl<'b> MapEntryReader<'b> {
    /// Reads the key (1) or the value (2) of a map entry, and skips other fields; `None` at the end. The value has the
    /// wire type `wire`.
    ///
    /// The generated code ignores the wire types in the entry. It also reads keys and values that end after the entry;
    /// their bytes are then read again, as the next fields of the message.
    ///
    /// # Errors
    /// Returns an error for malformed bytes.
    pub fn member(&mut self, wire: u64) -> Result<Option<(i32, Wire<'b>)>, Error> {
        let reader = &mut self.reader;
        while reader.at < self.end {
            let start = reader.at;
            let number = (reader.number()? >> 3) as i32;
            match number {
                1 => return Ok(Some((number, reader.value(2)?))),
                2 => return Ok(Some((number, reader.value(wire)?))),
                _ => {
                    reader.at = start;
                    reader.skip(self.end)?;
                }
            }
        }
        Ok(None)
    }
}

/// The name of the Go field that has this name in JSON.
pub fn go_name(name: &str) -> String {
    match name {
        "id" | "uid" | "url" => return name.to_uppercase(),
        "metadata" => return "ObjectMeta".to_owned(),
        _ => {}
    }
    for acronym in ["api", "ca", "json"] {
        if let Some(rest) = name.strip_prefix(acronym).filter(|rest| rest.starts_with(char::is_uppercase)) {
            return acronym.to_uppercase() + rest;
        }
    }
    let upper = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.trim_start_matches('$').replace("x-kubernetes-", "x-").split('-').map(upper).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_names_of_go() {
        let names = [
            ("metadata", "ObjectMeta"),
            ("caBundle", "CABundle"),
            ("categories", "Categories"),
            ("apiVersion", "APIVersion"),
            ("jsonPath", "JSONPath"),
            ("jSONSchemas", "JSONSchemas"),
            ("openAPIV3Schema", "OpenAPIV3Schema"),
            ("$ref", "Ref"),
            ("uid", "UID"),
            ("x-kubernetes-int-or-string", "XIntOrString"),
        ];
        for (json, go) in names {
            assert_eq!(go_name(json), go);
        }
    }

    /// Skips all fields of a message.
    fn skipped(message: &[u8]) -> Result<(), Error> {
        MessageReader::new(message).known("M", |_, _| Ok(false)).map(drop)
    }

    fn any<'b>(reader: &mut MessageReader<'b>) -> Result<Option<(u64, Wire<'b>)>, Error> {
        reader.known("M", |_, _| Ok(true))
    }

    #[test]
    fn illegal_tags_are_shown_whole() {
        let error = skipped(&[0x82, 0x80, 0x80, 0x80, 0x80, 0x01]).unwrap_err();
        assert_eq!(error.to_string(), "proto: M: illegal tag 0 (wire type 34359738370)");
        assert_eq!(skipped(&[0x0c]).unwrap_err().to_string(), "proto: M: wiretype end group for non-group");
    }

    #[test]
    fn positions_beyond_an_int64_are_negative_lengths() {
        let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(skipped(&[&[0x0a][..], &huge].concat()), Err(Error::NegativeLength));
        assert_eq!(skipped(&[0x0a, 5, 1]), Err(Error::UnexpectedEnd));
        assert_eq!(skipped(&[0x0b, 0x09, 1, 2]), Err(Error::UnexpectedEnd));
    }

    #[test]
    fn the_members_of_an_entry_may_end_after_it() {
        // An entry of three bytes, whose key needs five, and the field 3 behind it.
        let message = [0x0a, 3, 0x0a, 3, b'a', 0x18, 7];
        let mut reader = MessageReader::new(&message);
        let Ok(Some((1, Wire::Bytes(entry)))) = any(&mut reader) else { panic!() };
        let mut entry = reader.entry(entry);
        assert!(matches!(entry.member(2), Ok(Some((1, Wire::Bytes(b"a\x18\x07"))))));
        assert!(matches!(entry.member(2), Ok(None)));
        assert!(matches!(any(&mut reader), Ok(Some((3, Wire::Number(7))))));
        // Unknown fields must end within the entry.
        let message = [0x0a, 2, 0x1a, 3, b'a', b'b', b'c'];
        let mut reader = MessageReader::new(&message);
        let Ok(Some((1, Wire::Bytes(entry)))) = any(&mut reader) else { panic!() };
        assert_eq!(reader.entry(entry).member(2).map(drop), Err(Error::UnexpectedEnd));
    }
}
