//! The syntax tree, with the shape and ids of cel-go's: macros are already expanded.

use super::{library::Overload, types::Type};
use crate::release::Minor;
use std::sync::Arc;

/// Identifies a node in one expression, from 1 on, in the order cel-go's parser hands them out.
pub type ExprId = u32;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Its id.
    pub id: ExprId,
    /// The kind of node.
    pub kind: ExprKind,
}

impl Expr {
    /// Whether any node of the tree is like this.
    pub fn any(&self, found: &dyn Fn(&Expr) -> bool) -> bool {
        found(self) || self.children().any(|child| child.any(found))
    }

    /// The nodes directly below this one, in the order of the source where macros keep it.
    pub fn children(&self) -> impl Iterator<Item = &Expr> {
        let children: Vec<&Expr> = match &self.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => Vec::new(),
            ExprKind::Select { operand, .. } => vec![operand],
            ExprKind::Call { target, args, .. } => target.iter().map(|target| &**target).chain(args).collect(),
            ExprKind::List { elements, .. } => elements.iter().collect(),
            ExprKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            ExprKind::Struct { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            ExprKind::Comprehension(fold) => {
                vec![&fold.range, &fold.accu_init, &fold.condition, &fold.step, &fold.result]
            }
        };
        children.into_iter()
    }
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A placeholder where an error was reported; never in a tree that parsed.
    Unspecified,
    /// A constant.
    Literal(Literal),
    /// A name; a leading dot is part of it.
    Ident(String),
    /// `operand.field`, or `has(operand.field)` when `test_only`.
    Select {
        /// The operand of the selection.
        operand: Box<Expr>,
        /// The field, unescaped from back quotes.
        field: String,
        /// `has()`
        test_only: bool,
    },
    /// A function, operator (`_+_`, `_[_]`, `_?_:_`, `_?._`, …) or member call.
    Call {
        /// The receiver of a member call.
        target: Option<Box<Expr>>,
        /// The function's name, operators under their cel-go names.
        function: String,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `[a, ?b]`
    List {
        /// The elements.
        elements: Vec<Expr>,
        /// Positions of the elements marked with `?`.
        optional_indices: Vec<usize>,
    },
    /// `{k: v, ?k: v}`
    Map(Vec<MapEntry>),
    /// `Name{field: value}`
    Struct {
        /// The type's name.
        type_name: String,
        /// The fields.
        fields: Vec<StructField>,
    },
    /// The fold every comprehension macro expands to.
    Comprehension(Box<Comprehension>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `"a"`
    String(String),
    /// `b"a"`
    Bytes(Vec<u8>),
}

/// An entry of a map literal.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// Its own id.
    pub id: ExprId,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// Marked with `?`.
    pub optional: bool,
}

/// A field of a message literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// Its own id.
    pub id: ExprId,
    /// The field's name.
    pub name: String,
    /// The value.
    pub value: Expr,
    /// Marked with `?`.
    pub optional: bool,
}

/// `accu = init; for iter in range { if !condition break; accu = step }; result`
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The list or map walked.
    pub range: Expr,
    /// The loop variable (element; key of a map).
    pub iter_var: String,
    /// The second loop variable, if there is one (then `iter_var` is the index or key).
    pub iter_var2: Option<String>,
    /// The accumulator's name (`@result`).
    pub accu_var: String,
    /// Its first value.
    pub accu_init: Expr,
    /// The loop condition.
    pub condition: Expr,
    /// Its next value.
    pub step: Expr,
    /// The result of the fold.
    pub result: Expr,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    /// The whole expression.
    pub expr: Expr,
    /// The positions of nodes in the source.
    pub source_info: SourceInfo,
}

/// The positions of nodes in the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceInfo {
    /// The source text.
    pub source: String,
    /// Code point offset of each node, by id; -1 for an id that is not in use.
    pub offsets: Vec<i32>,
}

impl SourceInfo {
    /// The code point offset of a node; -1 if it has none.
    pub fn offset(&self, id: ExprId) -> i32 {
        self.offsets.get(id as usize).copied().unwrap_or(-1)
    }
}

/// An expression with its types and references.
#[derive(Clone, Debug)]
pub struct CheckedAst {
    /// The expression; qualified names are already resolved to identifiers.
    pub ast: Ast,
    /// The version of the server that checked it, which decides costs.
    pub server: Minor,
    /// The type of each node, by id: ask [`CheckedAst::type_of`].
    pub types: Vec<Option<Type>>,
    /// The reference of each name or call, by id; see [`CheckedAst::reference`].
    pub references: Vec<Option<Reference>>,
}

impl CheckedAst {
    /// The type of a node (`dyn` for one that was not checked).
    pub fn type_of(&self, id: ExprId) -> &Type {
        self.types.get(id as usize).and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    /// The reference of a name or call.
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references.get(id as usize).and_then(Option::as_ref)
    }

    /// The overloads a call may run; none for what is no call.
    pub fn overloads(&self, id: ExprId) -> &[&'static Overload] {
        match self.reference(id) {
            Some(Reference::Overloads(overloads)) => overloads,
            _ => &[],
        }
    }

    /// The type of the whole expression.
    pub fn result_type(&self) -> &Type {
        self.type_of(self.ast.expr.id)
    }
}

/// The declaration or overloads that a name or call refers to.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A variable of the environment; loop variables have no reference.
    Variable(Arc<str>),
    /// The name of a type.
    Type(Type),
    /// A named number.
    Constant(i64),
    /// The overloads that fit, in the order of the library's tables.
    Overloads(Vec<&'static Overload>),
}
