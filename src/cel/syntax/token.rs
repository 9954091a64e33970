//! The kinds of tokens, numbered as in cel-go's grammar: messages list them in this order.

/// A kind of token. The number decides its place in `expecting {…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    Eof = 0,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Exclamation,
    QuestionMark,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Whitespace,
    Comment,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
}

/// The names in messages, by number.
const NAMES: [&str; 38] = [
    "<EOF>",
    "'=='",
    "'!='",
    "'in'",
    "'<'",
    "'<='",
    "'>='",
    "'>'",
    "'&&'",
    "'||'",
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "':'",
    "'+'",
    "'*'",
    "'/'",
    "'%'",
    "'true'",
    "'false'",
    "'null'",
    "WHITESPACE",
    "COMMENT",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
    "ESC_IDENTIFIER",
];

impl Kind {
    /// Its number, which is also its bit in a [`KindSet`].
    pub const fn bit(self) -> KindSet {
        KindSet(1 << self as u8)
    }
}

/// A set of kinds, and whether the end of the rule is in it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet(u64);

impl KindSet {
    /// Nothing.
    pub const EMPTY: Self = Self(0);
    /// The mark for "the rule may end here".
    pub const END_OF_RULE: Self = Self(1 << 63);

    /// Both together.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without the members of the other.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets share a member.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Its text in messages: the only member, or `{a, b}`.
    pub fn names(self) -> String {
        let names: Vec<&str> =
            (0u8..).zip(NAMES).filter(|(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| name).collect();
        if let [only] = names.as_slice() { (*only).to_owned() } else { format!("{{{}}}", names.join(", ")) }
    }
}

/// A token with its position in bytes and code points.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The kind of token.
    pub kind: Kind,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// Code point offset of the first character.
    pub offset: u32,
}
