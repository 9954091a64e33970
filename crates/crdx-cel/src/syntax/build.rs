//! Creates nodes: assigns ids, records positions, parses literals and expands macros. Used by the fast parser and, for
//! sources with syntax errors, by the visitor of the recovered tree.

use super::{
    ParseOptions, ParserVersion,
    macros::{Expander, Ids, MacroError},
    unescape::{QuotedLiteral, unescape},
};
use crate::{
    ast::{Expr, ExprId, ExprKind, Literal},
    issues::Issues,
};

/// The maximum number of nodes. A larger tree would exhaust a real server's memory, too: `optMap` duplicates its
/// receiver.
const MAX_NODES: usize = 1_000_000;

/// Returns true for a reserved word.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The state of a parse.
pub(super) struct AstBuilder<'s> {
    /// The source text.
    pub source: &'s str,
    /// The parser options.
    pub options: ParseOptions,
    /// The errors so far.
    pub issues: Issues,
    /// The code point offset of each node, indexed by id.
    pub offsets: Vec<i32>,
    /// True once the tree has more than [`MAX_NODES`] nodes.
    pub too_large: bool,
}

impl Ids for AstBuilder<'_> {
    fn new_id(&mut self, offset: i32) -> ExprId {
        AstBuilder::new_id(self, offset)
    }

    fn offset(&self, id: ExprId) -> i32 {
        AstBuilder::offset(self, id)
    }

    fn version(&self) -> ParserVersion {
        self.options.version
    }
}

impl<'s> AstBuilder<'s> {
    pub fn new(source: &'s str, options: ParseOptions) -> Self {
        Self { source, options, issues: Issues::new(source), offsets: vec![-1], too_large: false }
    }

    /// Assigns a new id to a node at this offset.
    pub(crate) fn new_id(&mut self, offset: i32) -> ExprId {
        let id = self.offsets.len();
        if id > MAX_NODES {
            self.too_large = true;
        }
        // cel-go places the nodes of an empty source before its first line.
        self.offsets.push(if self.source.is_empty() { -1 } else { offset });
        id as ExprId
    }

    /// Releases an id. Only the last id assigned is reused.
    fn delete_id(&mut self, id: ExprId) {
        if id as usize + 1 == self.offsets.len() {
            self.offsets.pop();
        } else if let Some(offset) = self.offsets.get_mut(id as usize) {
            *offset = -1;
        }
    }

    /// The code point offset of a node.
    pub fn offset(&self, id: ExprId) -> i32 {
        self.offsets.get(id as usize).copied().unwrap_or(-1)
    }

    /// Creates a node with a new id.
    pub fn node(&mut self, offset: i32, kind: ExprKind) -> Expr {
        Expr { id: self.new_id(offset), kind }
    }

    /// Reports an error and returns a placeholder.
    pub fn error(&mut self, offset: i32, message: impl Into<String>) -> Expr {
        let expr = self.node(offset, ExprKind::Unspecified);
        let offset = self.offset(expr.id);
        self.issues.report(offset, message);
        expr
    }

    /// Reports an error without a position and returns a placeholder.
    #[cfg(feature = "recovery")]
    pub(crate) fn error_without_position(&mut self, message: impl Into<String>) -> Expr {
        self.issues.report_at(crate::issues::Location::NONE, message);
        self.node(-1, ExprKind::Unspecified)
    }

    /// Creates an identifier. `name` has no leading dot; `dotted` is true if the source has one.
    pub fn ident(&mut self, start: i32, dotted: bool, name: &str, at: i32) -> Expr {
        if let Some(wrong) = self.reserved(start, name) {
            return wrong;
        }
        self.node(at, ExprKind::Ident(with_dot(dotted, name)))
    }

    /// Reports an error if `name` is a reserved word.
    pub fn reserved(&mut self, start: i32, name: &str) -> Option<Expr> {
        is_reserved(name).then(|| self.error(start, format!("reserved identifier: {name}")))
    }

    /// Creates a call, or expands the macro with that name. `id` was assigned before the arguments were parsed.
    pub fn call(&mut self, id: ExprId, function: String, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        let Some(which) = self.options.macros.find(&function, target.as_ref(), args.len()) else {
            return Expr { id, kind: ExprKind::Call { target: target.map(Box::new), function, args } };
        };
        let expanded = if self.too_large {
            Ok(Expr { id, kind: ExprKind::Unspecified })
        } else {
            Expander::new(self, id).expand(which, target, args)
        };
        match expanded {
            Ok(expr) => {
                self.delete_id(id);
                expr
            }
            Err(MacroError(at, message)) => {
                let offset = self.offset(at);
                self.delete_id(id);
                self.error(offset, message)
            }
        }
    }

    /// Creates an operator call; no macro has the name of an operator.
    pub fn operator(id: ExprId, function: &str, args: Vec<Expr>) -> Expr {
        Expr { id, kind: ExprKind::Call { target: None, function: function.to_owned(), args } }
    }

    /// Parses an int literal; `text` includes the sign.
    pub fn int(&mut self, offset: i32, text: &str) -> Expr {
        let parsed = match (text.strip_prefix("0x"), text.strip_prefix("-0x")) {
            (Some(digits), _) => i64::from_str_radix(digits, 16),
            (_, Some(digits)) => i64::from_str_radix(&format!("-{digits}"), 16),
            _ => text.parse(),
        };
        self.literal(offset, parsed.map(Literal::Int).map_err(|_| "invalid int literal"))
    }

    /// Parses a uint literal; `text` includes the `u`.
    pub fn uint(&mut self, offset: i32, text: &str) -> Expr {
        let text = text.trim_end_matches(['u', 'U']);
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        self.literal(offset, parsed.map(Literal::Uint).map_err(|_| "invalid uint literal"))
    }

    /// Parses a double literal; `text` includes the sign.
    pub fn double(&mut self, offset: i32, text: &str) -> Expr {
        let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite());
        self.literal(offset, parsed.map(Literal::Double).ok_or("invalid double literal"))
    }

    /// Parses a string literal.
    pub fn string(&mut self, offset: i32, text: &str) -> Expr {
        let value = match unescape(text, QuotedLiteral::String, self.options.version) {
            Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
            Err(message) => {
                self.error(offset, message);
                text.to_owned()
            }
        };
        self.node(offset, ExprKind::Literal(Literal::String(value)))
    }

    /// Parses a bytes literal; `text` excludes the `b`.
    pub fn bytes(&mut self, offset: i32, text: &str) -> Expr {
        let value = match unescape(text, QuotedLiteral::Bytes, self.options.version) {
            Ok(bytes) => bytes,
            Err(message) => {
                self.error(offset, message);
                text.as_bytes().to_vec()
            }
        };
        self.node(offset, ExprKind::Literal(Literal::Bytes(value)))
    }

    /// Creates a boolean literal.
    pub fn bool(&mut self, offset: i32, value: bool) -> Expr {
        self.node(offset, ExprKind::Literal(Literal::Bool(value)))
    }

    /// Creates a null literal.
    pub fn null(&mut self, offset: i32) -> Expr {
        self.node(offset, ExprKind::Literal(Literal::Null))
    }

    /// Sets the position of a node after its creation.
    pub(crate) fn set_offset(&mut self, id: ExprId, offset: i32) {
        if let Some(slot) = self.offsets.get_mut(id as usize) {
            *slot = offset;
        }
    }

    fn literal(&mut self, offset: i32, parsed: Result<Literal, &str>) -> Expr {
        match parsed {
            Ok(value) => self.node(offset, ExprKind::Literal(value)),
            Err(message) => self.error(offset, message),
        }
    }

    /// Creates a balanced tree for a chain such as `a && b && c`; `ops` are the ids assigned after each operand.
    pub fn balanced(function: &str, terms: Vec<Expr>, ops: &[ExprId]) -> Expr {
        let mut terms = terms.into_iter();
        Self::balance(function, &mut terms, ops)
    }

    fn balance(function: &str, terms: &mut std::vec::IntoIter<Expr>, ops: &[ExprId]) -> Expr {
        let Some((&id, left, right)) = ops.split_at_checked(ops.len() / 2).and_then(|(left, rest)| {
            let (id, right) = rest.split_first()?;
            Some((id, left, right))
        }) else {
            return terms.next().unwrap_or(Expr { id: 0, kind: ExprKind::Unspecified });
        };
        let left = Self::balance(function, terms, left);
        let right = Self::balance(function, terms, right);
        Self::operator(id, function, vec![left, right])
    }
}

/// The name with its leading dot, if it has one.
pub(super) fn with_dot(dotted: bool, name: &str) -> String {
    if dotted { format!(".{name}") } else { name.to_owned() }
}
