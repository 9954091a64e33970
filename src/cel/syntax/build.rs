//! Creates nodes: assigns ids, records positions, reads literals, expands macros. Used by the fast parser and, for
//! sources with syntax errors, by the walk over the recovered tree.

use super::{
    ParseOptions,
    macros::{Expander, Ids, MacroError},
    unescape::unescape,
};
use crate::cel::{
    ast::{Expr, ExprId, ExprKind, Literal},
    issues::{Issues, Location},
};

/// More nodes than this no server could hold either: `optMap` doubles what it is called on.
const MAX_NODES: usize = 1_000_000;

/// Whether a name is reserved.
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

/// The state of one parse.
pub(super) struct Builder<'s> {
    /// The source text.
    pub source: &'s str,
    /// The enabled extensions.
    pub options: ParseOptions,
    /// Problems so far.
    pub issues: Issues,
    /// Code point offset by id.
    pub offsets: Vec<i32>,
    /// The tree got larger than [`MAX_NODES`].
    pub too_large: bool,
}

impl Ids for Builder<'_> {
    fn new_id(&mut self, offset: i32) -> ExprId {
        Builder::new_id(self, offset)
    }

    fn offset(&self, id: ExprId) -> i32 {
        Builder::offset(self, id)
    }
}

impl<'s> Builder<'s> {
    pub fn new(source: &'s str, options: ParseOptions) -> Self {
        Self { source, options, issues: Issues::new(source), offsets: vec![-1], too_large: false }
    }

    /// A fresh id for a node at this offset.
    pub fn new_id(&mut self, offset: i32) -> ExprId {
        let id = self.offsets.len();
        if id > MAX_NODES {
            self.too_large = true;
        }
        // cel-go takes the empty source for one whose first line lies before it.
        self.offsets.push(if self.source.is_empty() { -1 } else { offset });
        id as ExprId
    }

    /// Gives an id back: the last one is handed out again.
    fn delete_id(&mut self, id: ExprId) {
        if id as usize + 1 == self.offsets.len() {
            self.offsets.pop();
        } else if let Some(offset) = self.offsets.get_mut(id as usize) {
            *offset = -1;
        }
    }

    /// The position of a node.
    pub fn offset(&self, id: ExprId) -> i32 {
        self.offsets.get(id as usize).copied().unwrap_or(-1)
    }

    /// A node with a fresh id.
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
    pub fn error_nowhere(&mut self, message: impl Into<String>) -> Expr {
        self.issues.report_at(Location::NONE, message);
        self.node(-1, ExprKind::Unspecified)
    }

    /// A variable; `name` without its leading dot, which is `dotted`.
    pub fn ident(&mut self, start: i32, dotted: bool, name: &str, at: i32) -> Expr {
        if let Some(wrong) = self.reserved(start, name) {
            return wrong;
        }
        self.node(at, ExprKind::Ident(with_dot(dotted, name)))
    }

    /// The problem with using a reserved word as a name.
    pub fn reserved(&mut self, start: i32, name: &str) -> Option<Expr> {
        is_reserved(name).then(|| self.error(start, format!("reserved identifier: {name}")))
    }

    /// A call, or what the macro of that name makes of it. `id` was taken before the arguments were made.
    pub fn call(&mut self, id: ExprId, function: String, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        let Some(which) = self.options.macros.find(&function, args.len(), target.is_some()) else {
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

    /// An operator with its operands; no macro has an operator's name.
    pub fn operator(id: ExprId, function: &str, args: Vec<Expr>) -> Expr {
        Expr { id, kind: ExprKind::Call { target: None, function: function.to_owned(), args } }
    }

    /// A whole number; `text` with its sign.
    pub fn int(&mut self, offset: i32, text: &str) -> Expr {
        let parsed = match (text.strip_prefix("0x"), text.strip_prefix("-0x")) {
            (Some(digits), _) => i64::from_str_radix(digits, 16),
            (_, Some(digits)) => i64::from_str_radix(&format!("-{digits}"), 16),
            _ => text.parse(),
        };
        self.literal(offset, parsed.map(Literal::Int).map_err(|_| "invalid int literal"))
    }

    /// An unsigned number; `text` with its `u`.
    pub fn uint(&mut self, offset: i32, text: &str) -> Expr {
        let text = text.trim_end_matches(['u', 'U']);
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        self.literal(offset, parsed.map(Literal::Uint).map_err(|_| "invalid uint literal"))
    }

    /// A floating point number; `text` with its sign.
    pub fn double(&mut self, offset: i32, text: &str) -> Expr {
        let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite());
        self.literal(offset, parsed.map(Literal::Double).ok_or("invalid double literal"))
    }

    /// A quoted string.
    pub fn string(&mut self, offset: i32, text: &str) -> Expr {
        let value = match unescape(text, false) {
            Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
            Err(message) => {
                self.error(offset, message);
                text.to_owned()
            }
        };
        self.node(offset, ExprKind::Literal(Literal::String(value)))
    }

    /// A quoted byte string; `text` without its `b`.
    pub fn bytes(&mut self, offset: i32, text: &str) -> Expr {
        let value = match unescape(text, true) {
            Ok(bytes) => bytes,
            Err(message) => {
                self.error(offset, message);
                text.as_bytes().to_vec()
            }
        };
        self.node(offset, ExprKind::Literal(Literal::Bytes(value)))
    }

    /// `true` or `false`.
    pub fn bool(&mut self, offset: i32, value: bool) -> Expr {
        self.node(offset, ExprKind::Literal(Literal::Bool(value)))
    }

    /// `null`.
    pub fn null(&mut self, offset: i32) -> Expr {
        self.node(offset, ExprKind::Literal(Literal::Null))
    }

    /// Sets the position of a node later.
    pub fn place(&mut self, id: ExprId, offset: i32) {
        if let Some(place) = self.offsets.get_mut(id as usize) {
            *place = offset;
        }
    }

    fn literal(&mut self, offset: i32, parsed: Result<Literal, &str>) -> Expr {
        match parsed {
            Ok(value) => self.node(offset, ExprKind::Literal(value)),
            Err(message) => self.error(offset, message),
        }
    }

    /// `a && b && c` as a balanced tree, whose ids were taken after each operand.
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

/// A name as written with its leading dot.
pub(super) fn with_dot(dotted: bool, name: &str) -> String {
    if dotted { format!(".{name}") } else { name.to_owned() }
}
