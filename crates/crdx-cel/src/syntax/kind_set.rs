//! Sets of token kinds, for the prediction of alternatives and the recovery from errors.

use super::token::TokenKind;

/// The names of the kinds in messages, by number.
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

impl TokenKind {
    /// The bit of this kind in a [`KindSet`].
    pub const fn bit(self) -> KindSet {
        KindSet(1 << self as u8)
    }
}

/// A set of kinds, which may also contain the end of the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet(u64);

impl KindSet {
    pub(crate) const EMPTY: Self = Self(0);
    /// The member for the end of the rule.
    pub(crate) const END_OF_RULE: Self = Self(1 << 63);

    /// The union of two sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set without the members of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns true if the sets have a common member.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The text of the set in messages: the only member, or `{a, b}`.
    pub fn names(self) -> String {
        let names: Vec<&str> =
            (0u8..).zip(NAMES).filter(|(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| name).collect();
        if let [only] = names.as_slice() { (*only).to_owned() } else { format!("{{{}}}", names.join(", ")) }
    }
}
