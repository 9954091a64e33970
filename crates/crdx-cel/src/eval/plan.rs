//! Plans a checked expression into a program (`interpreter/planner.go` and the optimizations in `decorators.go`).

use super::{
    Program,
    call::{Callee, Resolved},
    constant::Constant,
    node::{
        Attribute, Call, Element, Fold, MapEntryNode, Match, MatchKind, MessageField, MessageNode, ProgramNode,
        Qualifier, QualifierKey, Root,
    },
    step,
};
use crate::{
    ast::{CheckedAst, Comprehension, Expr, ExprId, ExprKind, Literal, Reference, Selection},
    env::Env,
    library::{Overload, is_conversion},
    types::Type,
    value::{Fuel, MapKey, Value, number},
};
use crdx_regexp::Regexp;
use crdx_value::GoError;
use std::{collections::HashSet, sync::Arc};

/// Plans an expression; see [`Program::plan`].
pub(super) fn plan(checked: &CheckedAst, env: &Env) -> Result<Program, GoError> {
    let mut planner = Planner { checked, env, slots: env.variables.len(), scopes: Vec::new() };
    let root = planner.plan(&checked.ast.expr)?;
    let variables = env.variables.len();
    Ok(Program { root, variables, slots: planner.slots - variables, server: checked.server })
}

struct Planner<'p> {
    checked: &'p CheckedAst,
    env: &'p Env,
    /// Every fold has its own slots, because an accumulator may be evaluated within another fold.
    slots: usize,
    /// The variables that folds declare, innermost last.
    scopes: Vec<(&'p str, usize)>,
}

impl<'p> Planner<'p> {
    fn plan(&mut self, expr: &'p Expr) -> Result<ProgramNode, GoError> {
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(ProgramNode::Constant(Constant::literal(literal))),
            ExprKind::Ident(name) => self.ident(expr.id, name),
            ExprKind::Select { operand, field, test_only } => {
                let mut attribute = self.attribute(operand)?;
                let by = QualifierKey::Field(field.as_str().into());
                add_qualifier(&mut attribute, &Arc::new(Qualifier { by, optional: false, test: *test_only }));
                Ok(if *test_only { ProgramNode::Has(attribute) } else { ProgramNode::Attribute(attribute) })
            }
            ExprKind::Call { target, function, args } => {
                let args: Vec<&'p Expr> = target.as_deref().into_iter().chain(args).collect();
                self.call(expr.id, function, &args)
            }
            ExprKind::List { elements, optional_indices } => {
                let elements = elements
                    .iter()
                    .enumerate()
                    .map(|(i, e)| Ok(Element { node: self.plan(e)?, optional: optional_indices.contains(&i) }))
                    .collect::<Result<Vec<_>, GoError>>()?;
                Ok(constant_list(&elements).unwrap_or(ProgramNode::List(elements.into())))
            }
            ExprKind::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|e| {
                        Ok(MapEntryNode { key: self.plan(&e.key)?, value: self.plan(&e.value)?, optional: e.optional })
                    })
                    .collect::<Result<Vec<_>, GoError>>()?;
                Ok(constant_map(&entries)?.unwrap_or(ProgramNode::Map(entries.into())))
            }
            ExprKind::Unspecified => Err("unsupported expression".into()),
            ExprKind::Struct { type_name, fields } => {
                let fields = fields
                    .iter()
                    .map(|f| {
                        let value = self.plan(&f.value)?;
                        Ok(MessageField { name: f.name.as_str().into(), value, optional: f.optional })
                    })
                    .collect::<Result<Vec<_>, GoError>>()?;
                let message = MessageNode { type_name: type_name.as_str().into(), fields: fields.into() };
                Ok(ProgramNode::Message(Box::new(message)))
            }
            ExprKind::Comprehension(comprehension) => self.fold(comprehension),
        }
    }

    fn ident(&self, id: ExprId, name: &str) -> Result<ProgramNode, GoError> {
        let slot = match self.checked.reference(id) {
            Some(Reference::Constant(number)) => {
                return Ok(ProgramNode::Constant(Constant::literal(&Literal::Int(*number))));
            }
            Some(Reference::Type(named)) if is_defined(name, named) => {
                return Ok(ProgramNode::Constant(Constant::type_name(name.to_owned())));
            }
            Some(Reference::Type(_)) => return Err(format!("reference to undefined type: {name}").into()),
            // A name without a value is an error of the evaluation.
            Some(Reference::Variable(name)) => {
                Some(self.env.variables.iter().position(|variable| variable.name == *name).unwrap_or(usize::MAX))
            }
            _ => self.scopes.iter().rev().find(|(scoped, _)| *scoped == name).map(|(_, slot)| *slot),
        };
        let slot = slot.ok_or_else(|| format!("no such attribute(s): {name}"))?;
        Ok(ProgramNode::Attribute(Attribute { root: Root::Slot(slot), qualifiers: Vec::new() }))
    }

    /// Plans the expression as an attribute.
    fn attribute(&mut self, expr: &'p Expr) -> Result<Attribute, GoError> {
        self.plan(expr).map(as_attribute)
    }

    fn call(&mut self, id: ExprId, function: &str, args: &[&'p Expr]) -> Result<ProgramNode, GoError> {
        match (function, args) {
            ("_&&_", _) => Ok(ProgramNode::And(self.all(args)?.into())),
            ("_||_", _) => Ok(ProgramNode::Or(self.all(args)?.into())),
            ("_==_" | "_!=_", [a, b]) => {
                Ok(ProgramNode::Equal { sides: Box::new([self.plan(a)?, self.plan(b)?]), negated: function == "_!=_" })
            }
            ("_?_:_", [condition, yes, no]) => {
                let condition = Box::new(self.plan(condition)?);
                let branches = Box::new([self.attribute(yes)?, self.attribute(no)?]);
                Ok(ProgramNode::Attribute(Attribute {
                    root: Root::Choice { condition, branches },
                    qualifiers: Vec::new(),
                }))
            }
            ("@not_strictly_false" | "__not_strictly_false__", [inner]) => {
                Ok(ProgramNode::NotStrictlyFalse(Box::new(self.plan(inner)?)))
            }
            ("_[_]", [operand, index]) => self.index(operand, index, Selection::Plain),
            ("_?._" | "_[?_]", [operand, index]) => self.index(operand, index, Selection::Optional),
            ("or" | "orValue", [first, second]) => Ok(ProgramNode::Otherwise {
                sides: Box::new([self.plan(first)?, self.plan(second)?]),
                value: function == "orValue",
            }),
            _ => {
                let args = self.all(args)?;
                let callee = self.callee(id, function)?;
                optimize(callee, args)
            }
        }
    }

    fn all(&mut self, args: &[&'p Expr]) -> Result<Vec<ProgramNode>, GoError> {
        args.iter().map(|arg| self.plan(arg)).collect()
    }

    fn index(&mut self, operand: &'p Expr, index: &'p Expr, selection: Selection) -> Result<ProgramNode, GoError> {
        let mut attribute = self.attribute(operand)?;
        let by = match self.plan(index)? {
            ProgramNode::Constant(constant) => match constant.to_owned_value() {
                Value::String(text) => QualifierKey::Field((*text).into()),
                value @ (Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)) => {
                    QualifierKey::Constant(value)
                }
                other => {
                    let found = super::cost::go_type_name(self.checked.server, &other);
                    return Err(format!("invalid qualifier type: {found}").into());
                }
            },
            ProgramNode::Attribute(index) | ProgramNode::Has(index) => QualifierKey::Attribute(Box::new(index)),
            node => QualifierKey::Node(Box::new(node)),
        };
        let optional = selection == Selection::Optional;
        add_qualifier(&mut attribute, &Arc::new(Qualifier { by, optional, test: false }));
        Ok(ProgramNode::Attribute(attribute))
    }

    fn callee(&self, id: ExprId, function: &str) -> Result<Callee, GoError> {
        let unknown = || format!("no such overload: {function}()");
        let (function, known) = self.env.base.functions.get_key_value(function).ok_or_else(unknown)?;
        let chosen = match self.checked.overloads(id) {
            [only] => Some(only.id),
            _ => None,
        };
        let overloads = known
            .candidates()
            .iter()
            .filter(|candidate| chosen.is_none_or(|id| id == candidate.overload.id))
            .map(|candidate| Resolved { overload: candidate.overload, params: candidate.params.clone() })
            .collect();
        Ok(Callee { function, overloads })
    }

    fn fold(&mut self, fold: &'p Comprehension) -> Result<ProgramNode, GoError> {
        let range = self.plan(&fold.range)?;
        let init = self.plan(&fold.accu_init)?;
        let allocate = |planner: &mut Self| {
            planner.slots += 1;
            planner.slots - 1
        };
        let accumulator = allocate(self);
        let element = allocate(self);
        let second = fold.iter_var2.as_deref().map(|name| (name, allocate(self)));
        let depth = self.scopes.len();
        // If names are equal, the accumulator takes precedence, so it is pushed last.
        self.scopes.extend(second);
        self.scopes.push((&fold.iter_var, element));
        self.scopes.push((&fold.accu_var, accumulator));
        let condition = step::condition(self.plan(&fold.condition)?, accumulator);
        let step = step::step(self.plan(&fold.step)?, accumulator);
        self.scopes.truncate(depth);
        self.scopes.push((&fold.accu_var, accumulator));
        let result = self.plan(&fold.result)?;
        self.scopes.truncate(depth);
        let second = second.map(|(_, slot)| slot);
        Ok(ProgramNode::Fold(Box::new(Fold { range, element, second, accumulator, init, condition, step, result })))
    }
}

fn as_attribute(node: ProgramNode) -> Attribute {
    match node {
        ProgramNode::Attribute(attribute) | ProgramNode::Has(attribute) => attribute,
        node => Attribute { root: Root::Node(Box::new(node)), qualifiers: Vec::new() },
    }
}

fn add_qualifier(attribute: &mut Attribute, qualifier: &Arc<Qualifier>) {
    match &mut attribute.root {
        Root::Choice { branches, .. } => branches.iter_mut().for_each(|branch| add_qualifier(branch, qualifier)),
        _ => attribute.qualifiers.push(Arc::clone(qualifier)),
    }
}

fn constants(nodes: &[ProgramNode]) -> Option<Vec<Value<'static>>> {
    nodes
        .iter()
        .map(|node| match node {
            ProgramNode::Constant(constant) => Some(constant.to_owned_value()),
            _ => None,
        })
        .collect()
}

fn constant(node: &ProgramNode) -> Option<&Constant> {
    if let ProgramNode::Constant(constant) = node { Some(constant) } else { None }
}

fn constant_list(elements: &[Element]) -> Option<ProgramNode> {
    let values = elements.iter().map(|e| constant(&e.node).filter(|_| !e.optional).map(Constant::to_owned_value));
    Some(ProgramNode::Constant(Constant::List(values.collect::<Option<_>>()?)))
}

fn constant_map(entries: &[MapEntryNode]) -> Result<Option<ProgramNode>, GoError> {
    let values = entries.iter().map(|e| {
        let (key, value) = (constant(&e.key)?.to_owned_value(), constant(&e.value)?.to_owned_value());
        (!e.optional).then_some((key, value))
    });
    let Some(values) = values.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let map = values.into_iter().map(|(key, value)| Ok((MapKey::from_value(&key).map_err(|e| e.to_string())?, value)));
    Ok(Some(ProgramNode::Constant(Constant::Map(map.collect::<Result<_, GoError>>()?))))
}

/// Replaces calls by constants, compiled patterns and sets that can be computed in advance.
fn optimize(callee: Callee, args: Vec<ProgramNode>) -> Result<ProgramNode, GoError> {
    if callee.single().is_some_and(|overload| overload.id == "in_list")
        && let [_, ProgramNode::Constant(Constant::List(items))] = &*args
    {
        if items.is_empty() {
            return Ok(ProgramNode::Constant(Constant::literal(&Literal::Bool(false))));
        }
        if let Some(set) = set_of(items) {
            let item = args.into_iter().next().ok_or("no such overload")?;
            return Ok(ProgramNode::InSet(Box::new(item), set));
        }
        return Ok(plain_call(callee, args));
    }
    if is_conversion(callee.function)
        && let Some(values) = constants(&args)
        && values.len() == 1
    {
        let value = callee.invoke(&values, &Fuel::default()).map_err(|error| error.to_string())?;
        return Ok(ProgramNode::Constant(Constant::new(value)));
    }
    let kind = MatchKind::of(callee.function);
    let pattern = args.get(1).and_then(constant).and_then(Constant::as_text).cloned();
    let (Some(kind), Some(source)) = (kind, pattern) else {
        return Ok(plain_call(callee, args));
    };
    let pattern = match Regexp::new(&source) {
        Ok(pattern) => pattern,
        // The evaluation is interrupted.
        Err(crdx_regexp::Error::Unfinished) => return Ok(plain_call(callee, args)),
        Err(error) => return Err(error.to_string().into()),
    };
    let mut args = args.into_iter();
    let (text, _, limit) = (args.next().ok_or("no such overload")?, args.next(), args.next());
    let pattern_value = Value::string(source.to_string());
    Ok(ProgramNode::Match(Box::new(Match { kind, pattern, callee, text, pattern_value, limit })))
}

fn plain_call(callee: Callee, args: Vec<ProgramNode>) -> ProgramNode {
    let by_list = |overload: &Overload| overload.id == "string_format";
    let stops_at_error = callee.dispatches() || callee.single().is_some_and(by_list);
    ProgramNode::Call(Box::new(Call { callee, args: args.into(), stops_at_error }))
}

/// The keys in a constant list, with numbers converted to every numeric type in which they are equal. `None` if the
/// list contains a value that is not a scalar.
fn set_of(items: &[Value<'static>]) -> Option<HashSet<MapKey<'static>>> {
    let mut set = HashSet::new();
    let mut add = |value: &Value<'static>| MapKey::from_value(value).is_ok_and(|key| set.insert(key));
    for item in items {
        if !matches!(item, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_)) {
            return None;
        }
        add(item);
        match item {
            Value::Double(d) => {
                let int = number::double_to_int(*d).filter(|i| *i as f64 == *d);
                int.map(|i| add(&Value::Int(i)));
                let uint = number::double_to_uint(*d).filter(|u| *u as f64 == *d);
                uint.map(|u| add(&Value::Uint(u)));
            }
            Value::Int(i) => {
                add(&Value::Double(*i as f64));
                u64::try_from(*i).ok().map(|u| add(&Value::Uint(u)));
            }
            Value::Uint(u) => {
                add(&Value::Double(*u as f64));
                i64::try_from(*u).ok().map(|i| add(&Value::Int(i)));
            }
            _ => {}
        }
    }
    Some(set)
}

/// Returns true if the registry of types has a type by this name. The checker knows more names: those of schemas, such as
/// `timestamp`, and those of messages that are converted to other types.
fn is_defined(name: &str, named: &Type) -> bool {
    match named {
        Type::Any | Type::Object(_) => false,
        _ => name == runtime_name(named),
    }
}

/// The name of a type at run time, without type arguments.
fn runtime_name(named: &Type) -> &str {
    match named {
        Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_) => "dyn",
        Type::Null => "null_type",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Uint => "uint",
        Type::Double => "double",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Duration => "google.protobuf.Duration",
        Type::Any => "google.protobuf.Any",
        Type::List(_) => "list",
        Type::Map(..) => "map",
        Type::Optional(_) => "optional_type",
        Type::Type(_) => "type",
        Type::Wrapper(inner) => runtime_name(inner),
        Type::Opaque(name) | Type::Object(name) => name,
    }
}
