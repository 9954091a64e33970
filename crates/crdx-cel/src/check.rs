//! The type checker, equivalent to cel-go's: resolves names and calls, infers the type of each node, and reports
//! errors.

mod format_string;
mod literals;
mod message;
mod suggest;
mod unify;

use super::{
    ast::{
        Ast, CheckedAst, Comprehension, Expr, ExprId, ExprKind, Literal, MapEntry, Reference, Selection, SourceInfo,
    },
    decl::{DeclType, Shape},
    env::{Env, Function, Named},
    issues::{Issues, Location},
    library::Overload,
    syntax::{self, is_reserved},
    types::Type,
};
use crdx_value::release::{V1_32, V1_37, V1_38};
use std::sync::Arc;
use unify::{Bindings, has_variables, is_dyn_or_error, shift};

/// The maximum size of a map literal's type, in nodes. A map whose keys and values have the same type doubles the size,
/// so a few dozen nested maps would exhaust the memory, as they do on a real server.
const MAX_TYPE: usize = 1000;

impl Env {
    /// Parses and type-checks an expression.
    pub fn compile(&self, source: &str) -> Result<CheckedAst, Issues> {
        check(self, syntax::parse(source, self.parse_options())?)
    }
}

/// Type-checks a parsed expression.
pub fn check(env: &Env, ast: Ast) -> Result<CheckedAst, Issues> {
    let Ast { mut expr, source_info } = ast;
    let size = source_info.offsets.len();
    let mut checker = Checker {
        env,
        issues: None,
        types: vec![None; size],
        references: vec![None; size],
        bindings: Bindings::new(env.base.server),
        scopes: Vec::new(),
        source_info: &source_info,
    };
    checker.check(&mut expr);
    let Checker { issues, mut types, references, bindings, .. } = checker;
    if let Some(issues) = issues {
        return Err(issues);
    }
    for type_ in types.iter_mut().flatten().filter(|type_| has_variables(type_)) {
        *type_ = bindings.resolve_to_dyn(type_);
    }
    let checked = CheckedAst { ast: Ast { expr, source_info }, server: env.base.server, types, references };
    literals::validate(env, &checked)?;
    Ok(checked)
}

struct Checker<'e> {
    env: &'e Env,
    issues: Option<Issues>,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
    bindings: Bindings,
    /// Loop variables and accumulators, innermost last.
    scopes: Vec<(String, Type)>,
    source_info: &'e SourceInfo,
}

impl Checker<'_> {
    fn report(&mut self, id: ExprId, message: impl Into<String>) {
        let issues = self.issues.get_or_insert_with(|| Issues::new(&self.source_info.source));
        match self.source_info.offset(id) {
            -1 => issues.report_at(Location::NONE, message),
            offset => issues.report(offset, message),
        }
    }

    fn undeclared(&mut self, id: ExprId, name: &str) {
        if self.env.base.server < V1_38 {
            return self.report(id, format!("undeclared reference to '{name}' (in container '')"));
        }
        let similar = suggest::similar(self.env, name);
        self.report(id, format!("undeclared reference to '{name}'{}", suggest::suffix(name, &similar)));
    }

    /// Reports a qualified name such as `format.dns123Label` if no part before its last is declared, but a similar qualified
    /// name is (`checkUndeclaredIdent` and `checkUndeclaredFunction` of cel-go 0.33).
    fn is_misspelt(&mut self, id: ExprId, prefix: &[&str], last: &str) -> bool {
        if self.env.base.server < V1_38 || prefix.is_empty() {
            return false;
        }
        let name = format!("{}.{last}", prefix.join("."));
        let mut declared = String::new();
        for part in prefix {
            let is_local = declared.is_empty() && self.local(part).is_some();
            declared.push_str(if declared.is_empty() { "" } else { "." });
            declared.push_str(part.strip_prefix('.').unwrap_or(part));
            let env = self.env;
            let is_known = env.variable(&declared).is_some() || env.base.names.contains_key(declared.as_str());
            if is_local || is_known || env.message_type(&declared).is_some() {
                return false;
            }
        }
        let similar = suggest::similar(self.env, &name);
        if similar.is_empty() {
            return false;
        }
        self.report(id, format!("undeclared reference to '{name}'{}", suggest::suffix(&name, &similar)));
        true
    }

    fn mismatch(&mut self, id: ExprId, expected: &Type, found: &Type) {
        let (expected, found) = (self.env.type_name(expected), self.env.type_name(found));
        self.report(id, format!("expected type '{expected}' but found '{found}'"));
    }

    fn type_of(&self, expr: &Expr) -> Type {
        self.types.get(expr.id as usize).and_then(Option::as_ref).cloned().unwrap_or(Type::Error)
    }

    fn set_type(&mut self, id: ExprId, type_: Type) {
        if self.env.base.parse_options.version.reuses_targets()
            && let Some(known) = self.types.get(id as usize).and_then(Option::as_ref)
        {
            return self.require_same_type(id, &known.clone(), &type_);
        }
        if let Some(slot) = self.types.get_mut(id as usize) {
            *slot = Some(type_);
        }
    }

    /// Reports a node that is checked twice with different types, because a macro uses it twice: each time, an empty list
    /// or `optional.none()` has a type with a new variable. The server's message also has the node in Go's syntax.
    fn require_same_type(&mut self, id: ExprId, known: &Type, new: &Type) {
        let (known, new) = (self.bindings.resolve(known), self.bindings.resolve(new));
        if known != new {
            let (known, new) = (self.env.type_name(&known), self.env.type_name(&new));
            self.report(id, format!("incompatible type already exists for expression: ({id}) old:{known}, new:{new}"));
        }
    }

    fn set_reference(&mut self, id: ExprId, reference: Reference) {
        if let Some(slot) = self.references.get_mut(id as usize) {
            *slot = Some(reference);
        }
    }

    fn check(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let type_ = match &mut expr.kind {
            ExprKind::Unspecified => {
                self.report(id, "unexpected unspecified type: expr");
                Type::Error
            }
            ExprKind::Literal(value) => literal_type(value),
            ExprKind::Ident(name) => {
                if let Some((type_, rename)) = self.resolve_name(id, name) {
                    if let Some(rename) = rename {
                        *name = rename;
                    }
                    type_
                } else {
                    let name = name.clone();
                    self.undeclared(id, &name);
                    Type::Error
                }
            }
            ExprKind::Select { .. } => self.check_select(expr),
            ExprKind::Call { .. } => self.check_call(expr),
            ExprKind::List { elements, optional_indices } => self.check_list(elements, optional_indices),
            ExprKind::Map(entries) => {
                let type_ = self.check_map(entries);
                if unify::is_larger(&self.bindings.resolve(&type_), MAX_TYPE) {
                    self.report(id, "type too large");
                    Type::Error
                } else {
                    type_
                }
            }
            ExprKind::Struct { .. } => self.check_struct(expr),
            ExprKind::Comprehension(fold) => self.check_comprehension(fold),
        };
        self.set_type(id, type_);
    }

    /// Resolves an identifier: its type, and the name to replace it with if that differs.
    fn resolve_name(&mut self, id: ExprId, name: &str) -> Option<(Type, Option<String>)> {
        let plain = name.strip_prefix('.');
        let local = self.local(plain.unwrap_or(name));
        if plain.is_none()
            && let Some(type_) = local
        {
            return Some((type_.clone(), None));
        }
        // The leading dot is kept only if a loop variable shadows the name.
        let rename = plain.filter(|_| local.is_none()).map(str::to_owned);
        Some((self.resolve_global(id, plain.unwrap_or(name))?, rename))
    }

    /// The type of a loop variable or accumulator.
    fn local(&self, name: &str) -> Option<&Type> {
        self.scopes.iter().rev().find(|(local, _)| local == name).map(|(_, type_)| type_)
    }

    fn resolve_global(&mut self, id: ExprId, name: &str) -> Option<Type> {
        if let Some(variable) = self.env.variable(name) {
            let (type_, name) = (variable.type_.clone(), Arc::clone(&variable.name));
            self.set_reference(id, Reference::Variable(name));
            return Some(type_);
        }
        if let Some(type_) = self.env.message_type(name) {
            self.set_reference(id, Reference::Type(type_.clone()));
            return Some(Type::type_of(type_));
        }
        match self.env.base.names.get(name)? {
            // Before 1.32, a type that only schemas define had the type of its values, and no value.
            Named::Type(named) if matches!(name, "duration" | "timestamp") && self.env.base.server < V1_32 => {
                self.set_reference(id, Reference::Variable(name.into()));
                Some(named.clone())
            }
            Named::Type(named) => {
                self.set_reference(id, Reference::Type(named.clone()));
                Some(Type::type_of(named.clone()))
            }
            Named::Constant(value) => {
                self.set_reference(id, Reference::Constant(*value));
                Some(Type::Int)
            }
        }
    }

    fn check_select(&mut self, expr: &mut Expr) -> Type {
        let id = expr.id;
        if let Some(name) = self.qualified_name(expr)
            && let Some(type_) = self.resolve_global(id, name.strip_prefix('.').unwrap_or(&name))
        {
            let name = name.strip_prefix('.').unwrap_or(&name).to_owned();
            expr.kind = ExprKind::Ident(name);
            return type_;
        }
        if let ExprKind::Select { operand, field, test_only: false } = &expr.kind
            && let Some(prefix) = qualifiers(operand)
            && self.is_misspelt(id, &prefix, field)
        {
            return Type::Error;
        }
        let ExprKind::Select { operand, field, test_only } = &mut expr.kind else { return Type::Error };
        let type_ = self.check_field(id, operand, field, Selection::Plain);
        if *test_only { Type::Bool } else { self.bindings.resolve(&type_) }
    }

    /// Joins a selection such as `a.b.c` to one qualified name, if `a` is the first part of a declared qualified name
    /// and not a loop variable.
    fn qualified_name(&self, expr: &Expr) -> Option<String> {
        let mut parts = Vec::new();
        let mut at = expr;
        loop {
            match &at.kind {
                ExprKind::Select { operand, field, test_only: false } => {
                    parts.push(field.as_str());
                    at = operand;
                }
                ExprKind::Ident(name) => {
                    let local = self.scopes.iter().any(|(local, _)| local == name);
                    if local || !self.env.is_name_root(name.strip_prefix('.').unwrap_or(name)) {
                        return None;
                    }
                    parts.push(name);
                    break;
                }
                _ => return None,
            }
        }
        parts.reverse();
        Some(parts.join("."))
    }

    fn check_field(&mut self, id: ExprId, operand: &mut Expr, field: &str, selection: Selection) -> Type {
        self.check(operand);
        let operand_type = self.bindings.resolve(&self.type_of(operand));
        let (target, was_optional) = unwrap_optional(&operand_type);
        let result = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(name) => self.field_type(id, name, field),
            Type::Var(_) => {
                self.bindings.assignable([(&Type::Dyn, target)]);
                Type::Dyn
            }
            other => {
                if !is_dyn_or_error(other) {
                    let name = self.env.type_name(other);
                    self.report(id, format!("type '{name}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if was_optional || selection == Selection::Optional { Type::optional(result) } else { result }
    }

    fn field_type(&mut self, id: ExprId, object: &str, field: &str) -> Type {
        let keywords = self.env.base.keyword_fields;
        if self.env.message_type(object).is_some() {
            return message::patch_field(object, field);
        }
        match self.env.objects.get(object).map(|decl| declared_field(decl, field, keywords)) {
            Some(Some(type_)) => type_,
            Some(None) => {
                self.report(id, format!("undefined field '{field}'"));
                Type::Error
            }
            None => {
                self.report(id, format!("unexpected failed resolution of '{object}'"));
                Type::Error
            }
        }
    }

    fn check_call(&mut self, expr: &mut Expr) -> Type {
        let (env, id) = (self.env, expr.id);
        let ExprKind::Call { target, function, args } = &mut expr.kind else { return Type::Error };
        if function == "_?._" {
            return self.check_optional_select(id, args);
        }
        for arg in args.iter_mut() {
            self.check(arg);
        }
        let Some(receiver) = target else {
            let plain = function.strip_prefix('.').unwrap_or(function);
            let Some((name, found)) = env.base.functions.get_key_value(plain) else {
                let name = function.clone();
                self.undeclared(id, &name);
                return Type::Error;
            };
            if plain.len() != function.len() {
                *function = (*name).to_owned();
            }
            return self.resolve_overload(id, name, found, None, args);
        };
        // `a.b.c()` calls the function `a.b.c` if that function exists.
        if let Some(prefix) = self.namespace(receiver)
            && let Some((name, found)) = env.base.functions.get_key_value(format!("{prefix}.{function}").as_str())
        {
            (*target, *function) = (None, (*name).to_owned());
            return self.resolve_overload(id, name, found, None, args);
        }
        if qualifiers(receiver).is_some_and(|prefix| self.is_misspelt(id, &prefix, function)) {
            return Type::Error;
        }
        self.check(receiver);
        let Some((name, found)) = env.base.functions.get_key_value(function.as_str()) else {
            let name = function.clone();
            self.undeclared(id, &name);
            return Type::Error;
        };
        self.resolve_overload(id, name, found, Some(receiver), args)
    }

    /// The receiver as the namespace of a function name.
    fn namespace(&self, receiver: &Expr) -> Option<String> {
        let mut parts = Vec::new();
        let mut at = receiver;
        while let ExprKind::Select { operand, field, test_only: false } = &at.kind {
            parts.push(field.as_str());
            at = operand;
        }
        let ExprKind::Ident(root) = &at.kind else { return None };
        let root = root.strip_prefix('.').unwrap_or(root);
        if !self.env.base.function_roots.contains(&root) {
            return None;
        }
        parts.push(root);
        parts.reverse();
        Some(parts.join("."))
    }

    fn check_optional_select(&mut self, id: ExprId, args: &mut [Expr]) -> Type {
        let [operand, field] = args else {
            let count = args.len();
            self.report(
                id,
                format!("unsupported optional field selection: incorrect signature. argument count: {count}"),
            );
            return Type::Error;
        };
        let ExprKind::Literal(Literal::String(name)) = &field.kind else {
            self.report(field.id, "unsupported optional field selection");
            return Type::Error;
        };
        let type_ = self.check_field(id, operand, name, Selection::Optional);
        let select = self.env.base.functions.get("_?._").and_then(|function| function.candidates().first());
        self.set_reference(id, Reference::Overloads(select.map(|found| found.overload).into_iter().collect()));
        self.set_type(field.id, Type::String);
        self.bindings.resolve(&type_)
    }

    fn resolve_overload(
        &mut self,
        id: ExprId,
        name: &str,
        function: &Function,
        target: Option<&Expr>,
        args: &[Expr],
    ) -> Type {
        let member = target.is_some();
        if matches!(name, "_&&_" | "_||_")
            && let Some(logic) = function.candidates().iter().find(|candidate| candidate.overload.member == member)
        {
            return self.check_logic(id, logic.overload, args);
        }
        let mut arg_types: Vec<Type> = target.into_iter().chain(args).map(|arg| self.type_of(arg)).collect();
        let mut overloads: Vec<&'static Overload> = Vec::new();
        let mut result: Option<Type> = None;
        for candidate in function.candidates() {
            if candidate.overload.member != member {
                continue;
            }
            let first = self.bindings.fresh(candidate.variables);
            if candidate.params.len() != arg_types.len()
                || arg_types.iter().zip(&candidate.params).any(|(arg, param)| never_fits(arg, param))
            {
                continue;
            }
            let fits = if candidate.variables == 0 {
                self.bindings.assignable(arg_types.iter().zip(&candidate.params))
            } else {
                let params: Vec<Type> = candidate.params.iter().map(|param| shift(param, first)).collect();
                self.bindings.assignable(arg_types.iter().zip(&params))
            };
            if !fits {
                continue;
            }
            overloads.push(candidate.overload);
            let returned = if candidate.variables == 0 {
                candidate.result.clone()
            } else {
                self.bindings.resolve(&shift(&candidate.result, first))
            };
            match &mut result {
                None => result = Some(returned),
                Some(result) if !result.is_dyn() && *result != returned => *result = Type::Dyn,
                Some(_) => {}
            }
        }
        let Some(result) = result else {
            for type_ in &mut arg_types {
                *type_ = self.bindings.resolve_to_dyn(type_);
            }
            self.no_overload(id, name, &arg_types, member);
            return Type::Error;
        };
        self.set_reference(id, Reference::Overloads(overloads));
        result
    }

    fn no_overload(&mut self, id: ExprId, name: &str, args: &[Type], member: bool) {
        let mut names: Vec<String> = args.iter().map(|arg| self.env.type_name(arg)).collect();
        let receiver = if member && !names.is_empty() { format!("{}.", names.remove(0)) } else { String::new() };
        let args = names.join(", ");
        self.report(id, format!("found no matching overload for '{name}' applied to '{receiver}({args})'"));
    }

    fn check_logic(&mut self, id: ExprId, overload: &'static Overload, args: &[Expr]) -> Type {
        let mut result = Type::Bool;
        for arg in args {
            let type_ = self.type_of(arg);
            if !self.bindings.assignable([(&type_, &Type::Bool)]) {
                self.mismatch(arg.id, &Type::Bool, &type_);
                result = Type::Error;
            }
        }
        if result == Type::Bool {
            self.set_reference(id, Reference::Overloads(vec![overload]));
        }
        result
    }

    fn check_list(&mut self, elements: &mut [Expr], optional_indices: &[usize]) -> Type {
        let mut joined: Option<Type> = None;
        for (index, element) in elements.iter_mut().enumerate() {
            self.check(element);
            let mut type_ = self.type_of(element);
            if optional_indices.contains(&index) {
                type_ = self.expect_optional(element.id, &type_);
            }
            joined = Some(self.join(joined, type_));
        }
        Type::list(joined.unwrap_or_else(|| self.fresh()))
    }

    fn check_map(&mut self, entries: &mut [MapEntry]) -> Type {
        let (mut keys, mut values): (Option<Type>, Option<Type>) = (None, None);
        for entry in entries {
            self.check(&mut entry.key);
            let key = self.type_of(&entry.key);
            keys = Some(self.join(keys, key));
            self.check(&mut entry.value);
            let mut value = self.type_of(&entry.value);
            if entry.optional {
                value = self.expect_optional(entry.value.id, &value);
            }
            values = Some(self.join(values, value));
        }
        let keys = keys.unwrap_or_else(|| self.fresh());
        Type::map(keys, values.unwrap_or_else(|| self.fresh()))
    }

    fn fresh(&mut self) -> Type {
        Type::Var(self.bindings.fresh(1))
    }

    /// The element type of an optional; reports an error for any other type.
    fn expect_optional(&mut self, id: ExprId, type_: &Type) -> Type {
        let (inner, is_optional) = unwrap_optional(type_);
        if !is_optional && !inner.is_dyn() {
            self.mismatch(id, &Type::optional(inner.clone()), inner);
        }
        inner.clone()
    }

    /// The common type of the elements of a literal; `dyn` if they have none, which [`literals`] validates later.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        if self.bindings.assignable([(&previous, &current)]) {
            return if self.bindings.less_specific(&previous, &current) { previous } else { current };
        }
        Type::Dyn
    }

    fn check_struct(&mut self, expr: &mut Expr) -> Type {
        let id = expr.id;
        let ExprKind::Struct { type_name, fields } = &mut expr.kind else { return Type::Error };
        let plain = type_name.strip_prefix('.').unwrap_or(type_name).to_owned();
        let made = self.env.message_type(&plain);
        let named = made.clone().or_else(|| match self.env.base.names.get(plain.as_str()) {
            Some(Named::Type(named)) => Some(named.clone()),
            _ => None,
        });
        // Before cel-go 0.29, a variable is found, too, and is not a type.
        let is_variable = named.is_none() && self.env.base.server < V1_37;
        let variable = || self.local(&plain).or_else(|| Some(&self.env.variable(&plain)?.type_));
        let Some(named) = named.or_else(|| variable().filter(|_| is_variable).cloned()) else {
            let name = type_name.clone();
            self.undeclared(id, &name);
            return Type::Error;
        };
        self.set_reference(id, Reference::Type(named.clone()));
        let message = if made.is_some() { Some(plain.as_str()) } else { message::of(&named).filter(|_| !is_variable) };
        let result = if message.is_some() {
            named
        } else {
            let name = match &named {
                Type::Object(_) => self.env.type_name(&named),
                _ => message::declared_name(&named),
            };
            let wanted = if is_variable { "type" } else { "message type" };
            self.report(id, format!("'{name}' is not a {wanted}"));
            Type::Error
        };
        let message_name = message.unwrap_or(&plain).to_owned();
        *type_name = plain;
        let type_name = message_name;
        self.set_type(id, result.clone());
        for field in fields {
            self.check(&mut field.value);
            let mut value = self.type_of(&field.value);
            let wanted = if made.is_some() {
                message::patch_field(&type_name, &field.name)
            } else {
                message::field(&type_name, &field.name).unwrap_or_else(|message| {
                    self.report(field.id, message);
                    Type::Error
                })
            };
            if field.optional {
                value = self.expect_optional(field.value.id, &value);
            }
            if !self.bindings.assignable([(&wanted, &value)]) {
                let (wanted, value) = (self.env.type_name(&wanted), self.env.type_name(&value));
                let name = &field.name;
                self.report(
                    field.id,
                    format!("expected type of field '{name}' is '{wanted}' but provided type is '{value}'"),
                );
            }
        }
        result
    }

    fn check_comprehension(&mut self, fold: &mut Comprehension) -> Type {
        self.check(&mut fold.range);
        self.check(&mut fold.accu_init);
        let range = self.bindings.resolve(&self.type_of(&fold.range));
        let accumulator = self.type_of(&fold.accu_init);
        let outside = self.scopes.len();
        self.scopes.push((fold.accu_var.clone(), accumulator.clone()));
        let two = fold.iter_var2.is_some();
        let (first, second) = match &range {
            Type::List(item) if two => (Type::Int, (**item).clone()),
            Type::List(item) => ((**item).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.bindings.assignable([(&Type::Dyn, &range)]);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let name = self.env.type_name(other);
                self.report(
                    fold.range.id,
                    format!(
                        "expression of type '{name}' cannot be range of a comprehension (must be list, map, or dynamic)"
                    ),
                );
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((fold.iter_var.clone(), first));
        if let Some(name) = &fold.iter_var2 {
            self.scopes.push((name.clone(), second));
        }
        self.check(&mut fold.condition);
        self.assert_type(&fold.condition, &Type::Bool);
        self.check(&mut fold.step);
        self.assert_type(&fold.step, &accumulator);
        self.scopes.truncate(outside + 1);
        self.check(&mut fold.result);
        self.scopes.truncate(outside);
        self.bindings.resolve(&self.type_of(&fold.result))
    }

    fn assert_type(&mut self, expr: &Expr, wanted: &Type) {
        let type_ = self.type_of(expr);
        if !self.bindings.assignable([(wanted, &type_)]) {
            self.mismatch(expr.id, wanted, &type_);
        }
    }
}

/// The parts of a chain of selections from an identifier, such as `a`, `b` and `c` of `a.b.c`.
fn qualifiers(mut expr: &Expr) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    while let ExprKind::Select { operand, field, test_only: false } = &expr.kind {
        parts.push(field.as_str());
        expr = operand;
    }
    let ExprKind::Ident(name) = &expr.kind else { return None };
    parts.push(name);
    parts.reverse();
    Some(parts)
}

/// The type of a field of a declared object. With `keywords`, a field named by a keyword may be selected unescaped
/// (`namespace` for `__namespace__`).
fn declared_field(decl: &DeclType, field: &str, keywords: bool) -> Option<Type> {
    let Shape::Object(fields) = &decl.shape else { return None };
    let keyword = || (keywords && is_reserved(field)).then(|| format!("__{field}__"));
    let found = fields.get(field).or_else(|| fields.get(&keyword()?));
    found.map(|field| field.type_.cel_type.clone())
}

fn unwrap_optional(type_: &Type) -> (&Type, bool) {
    match type_ {
        Type::Optional(inner) => (inner, true),
        other => (other, false),
    }
}

/// A fast pre-check of assignability: returns true if the two types can never match, because different scalar types are
/// never assignable to each other.
fn never_fits(arg: &Type, param: &Type) -> bool {
    let rank = |type_: &Type| match type_ {
        Type::Bool => 1,
        Type::Int => 2,
        Type::Uint => 3,
        Type::Double => 4,
        Type::String => 5,
        Type::Bytes => 6,
        Type::Timestamp => 7,
        Type::Duration => 8,
        Type::List(_) => 9,
        Type::Map(..) => 10,
        Type::Optional(_) => 11,
        Type::Type(_) => 12,
        _ => 0,
    };
    let (arg, param) = (rank(arg), rank(param));
    arg != param && arg != 0 && param != 0
}

fn literal_type(value: &Literal) -> Type {
    match value {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

#[cfg(test)]
mod tests {
    use crate::env::{BaseEnv, Env};
    use crate::types::Type;
    use crdx_value::release::Release;

    #[test]
    fn doubling_types_end() {
        let env = Env::new(BaseEnv::for_stored(Release::NEWEST));
        let chain = |maps: usize| format!("[1]{}", ".map(x, {x: x})".repeat(maps));
        assert!(env.compile(&chain(8)).is_ok());
        let issues = env.compile(&chain(60)).unwrap_err();
        assert!(issues.display().contains("type too large"));
    }

    #[test]
    fn variables_are_no_types() {
        let compile = |minor, source: &str| {
            let env = Env::new(BaseEnv::for_stored(Release::new(minor).unwrap())).with_variable("self", Type::String);
            env.compile(source).unwrap_err().display()
        };
        let error = compile(36, "self{a: 1}");
        assert!(error.contains("1:5: 'string' is not a type"), "{error}");
        assert!(error.contains("1:7: unexpected failed resolution of 'self'"), "{error}");
        assert!(compile(36, "[1].all(x, x{} == 1)").contains("'int' is not a type"));
        assert!(compile(37, "self{a: 1}").contains("1:5: undeclared reference to 'self'"));
    }

    #[test]
    fn nodes_that_a_macro_uses_twice_have_one_type() {
        let compile = |minor: u16, source: &str| {
            let release = Release::new(minor).unwrap();
            let found = Env::new(BaseEnv::for_stored(release)).compile(source);
            found.map_or_else(|issues| issues.display(), |_| "compiled".to_owned())
        };
        for source in ["optional.none().optMap(x, x)", "optional.of([]).optFlatMap(x, optional.of(x))"] {
            assert!(compile(31, source).contains("incompatible type already exists for expression"), "{source}");
            assert_eq!(compile(32, source), "compiled");
        }
        assert_eq!(compile(31, "optional.of(1).optMap(x, x + 1)"), "compiled");
        let repeated = format!("optional.of(1){}", ".optMap(x, x)".repeat(60));
        assert_eq!(compile(31, &repeated), compile(32, &repeated));
    }
}
