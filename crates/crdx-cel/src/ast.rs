//! The syntax tree, with the structure and ids of cel-go's. Macros are already expanded.

use super::{library::Overload, types::Type};
use crdx_value::release::Minor;
use std::sync::Arc;

/// Identifies a node within one expression. Ids start at 1 and are assigned in the order of cel-go's parser.
pub type ExprId = u32;

/// A node of the syntax tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The id of the node.
    pub id: ExprId,
    /// The kind of node.
    pub kind: ExprKind,
}

impl Expr {
    /// Returns true if `found` returns true for any node of the tree.
    pub fn any(&self, found: &dyn Fn(&Expr) -> bool) -> bool {
        found(self) || self.children().any(|child| child.any(found))
    }

    /// The direct children of this node, in source order where macros preserve it.
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

/// The form of a selection of a field, key or item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    /// `a.b`, `a[b]`
    Plain,
    /// `a.?b`, `a[?b]`
    Optional,
}

/// The kind of a node, with its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A placeholder where an error was reported; does not occur in a successfully parsed tree.
    Unspecified,
    /// A constant.
    Literal(Literal),
    /// An identifier, including its leading dot if it has one.
    Ident(String),
    /// `operand.field`, or `has(operand.field)` when `test_only`.
    Select {
        /// The operand of the selection.
        operand: Box<Expr>,
        /// The field name, with backquote escaping removed.
        field: String,
        /// `has()`
        test_only: bool,
    },
    /// A function, operator (`_+_`, `_[_]`, `_?_:_`, `_?._`, …) or member call.
    Call {
        /// The receiver of a member call.
        target: Option<Box<Expr>>,
        /// The name of the function; operators have cel-go's names.
        function: String,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `[a, ?b]`
    List {
        /// The elements.
        elements: Vec<Expr>,
        /// The indices of the elements marked with `?`.
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
    /// The fold to which every comprehension macro expands.
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
    /// The id of the entry.
    pub id: ExprId,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// True if the entry is marked with `?`.
    pub optional: bool,
}

/// A field of a message literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// The id of the field.
    pub id: ExprId,
    /// The field's name.
    pub name: String,
    /// The value.
    pub value: Expr,
    /// True if the field is marked with `?`.
    pub optional: bool,
}

/// `accu = init; for iter in range { if !condition break; accu = step }; result`
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The list or map to iterate over.
    pub range: Expr,
    /// The loop variable: the element of a list, or the key of a map.
    pub iter_var: String,
    /// The second loop variable, if there is one; `iter_var` is then the index or key.
    pub iter_var2: Option<String>,
    /// The accumulator's name (`@result`).
    pub accu_var: String,
    /// The initial value of the accumulator.
    pub accu_init: Expr,
    /// The loop condition.
    pub condition: Expr,
    /// The next value of the accumulator.
    pub step: Expr,
    /// The result of the fold.
    pub result: Expr,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    /// The root node.
    pub expr: Expr,
    /// The source positions of nodes.
    pub source_info: SourceInfo,
}

/// The source text and the source positions of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceInfo {
    /// The source text.
    pub source: String,
    /// The code point offset of each node, indexed by id; -1 for an unused id.
    pub offsets: Vec<i32>,
}

impl SourceInfo {
    /// The code point offset of a node; -1 if it has none.
    pub fn offset(&self, id: ExprId) -> i32 {
        self.offsets.get(id as usize).copied().unwrap_or(-1)
    }
}

/// A type-checked expression: the syntax tree with types and references.
#[derive(Clone, Debug)]
pub struct CheckedAst {
    /// The expression, in which qualified names are resolved to identifiers.
    pub ast: Ast,
    /// The minor version of the server that checked the expression, which determines costs.
    pub server: Minor,
    /// The type of each node, indexed by id; see [`CheckedAst::type_of`].
    pub types: Vec<Option<Type>>,
    /// The reference of each identifier or call, indexed by id; see [`CheckedAst::reference`].
    pub references: Vec<Option<Reference>>,
}

impl CheckedAst {
    /// The type of a node; `dyn` if the node was not checked.
    pub fn type_of(&self, id: ExprId) -> &Type {
        self.types.get(id as usize).and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    /// The reference of an identifier or call.
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references.get(id as usize).and_then(Option::as_ref)
    }

    /// The candidate overloads of a call; empty if the node is not a call.
    pub fn overloads(&self, id: ExprId) -> &[&'static Overload] {
        match self.reference(id) {
            Some(Reference::Overloads(overloads)) => overloads,
            _ => &[],
        }
    }

    /// The type of the root node.
    pub fn result_type(&self) -> &Type {
        self.type_of(self.ast.expr.id)
    }
}

/// The declaration or overloads that an identifier or call refers to.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A variable of the environment; loop variables have no reference.
    Variable(Arc<str>),
    /// The name of a type, with that type.
    Type(Type),
    /// A named integer constant.
    Constant(i64),
    /// The overloads that match the argument types, in the order of the library tables.
    Overloads(Vec<&'static Overload>),
}
