//! Token kinds, numbered as in cel-go's grammar, because messages list them in this order.

/// A token kind. Its number determines its position in `expecting {…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TokenKind {
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

/// A token with its position in bytes and code points.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The kind of token.
    pub kind: TokenKind,
    /// The byte offset of the start.
    pub start: u32,
    /// The byte offset of the end.
    pub end: u32,
    /// Code point offset of the first character.
    pub offset: u32,
}
