//! Finds the inputs of an expression that may be unknown in a simulation, in its checked syntax tree.

use crdx_cel::ast::{CheckedAst, Expr, ExprKind, Reference};
use std::collections::HashMap;

/// The inputs of an expression that may be unknown in a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// `request.userInfo`
    pub user: bool,
    /// `authorizer`
    pub authorizer: bool,
    /// `namespaceObject`, except its name.
    pub namespace: bool,
}

impl Dependencies {
    /// Returns the union of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            user: self.user || other.user,
            authorizer: self.authorizer || other.authorizer,
            namespace: self.namespace || other.namespace,
        }
    }

    /// Returns the first dependency that both have.
    pub fn shared(self, other: Self) -> Option<Dependency> {
        if self.user && other.user {
            Some(Dependency::User)
        } else if self.authorizer && other.authorizer {
            Some(Dependency::Authorizer)
        } else {
            (self.namespace && other.namespace).then_some(Dependency::Namespace)
        }
    }

    /// Returns the dependencies of an expression, including those of its variables.
    pub(crate) fn from_ast(checked: &CheckedAst, variables: &OfVariables) -> Self {
        let mut found = Self::default();
        found.visit(&checked.ast.expr, checked, variables);
        found
    }

    fn visit(&mut self, expr: &Expr, checked: &CheckedAst, variables: &OfVariables) {
        let variable = |expr: &Expr| match checked.reference(expr.id) {
            Some(Reference::Variable(name)) => Some(name.to_string()),
            _ => None,
        };
        if let ExprKind::Select { operand, field, .. } = &expr.kind {
            match variable(operand).as_deref() {
                Some("request") => {
                    self.user |= field == "userInfo";
                    return;
                }
                Some("variables") => {
                    *self = self.or(variables.named.get(field).copied().unwrap_or_default());
                    return;
                }
                _ if is_name_of_namespace(operand, field, &variable) => return,
                _ => {}
            }
        }
        match variable(expr).as_deref() {
            Some("request") => self.user = true,
            Some("variables") => *self = self.or(variables.all),
            Some("namespaceObject") => self.namespace = true,
            Some("authorizer" | "authorizer.requestResource") => self.authorizer = true,
            _ => {}
        }
        for child in expr.children() {
            self.visit(child, checked, variables);
        }
    }
}

/// The dependencies of variables.
#[derive(Debug, Default)]
pub(crate) struct OfVariables {
    named: HashMap<String, Dependencies>,
    all: Dependencies,
}

impl OfVariables {
    /// Adds a variable. If several variables have the same name, the server uses the last one. Here all of them count.
    pub(crate) fn add(&mut self, name: &str, of: Dependencies) {
        let known = self.named.entry(name.to_owned()).or_default();
        *known = known.or(of);
        self.all = self.all.or(of);
    }
}

/// Returns true if `operand.field` is `namespaceObject.metadata.name`.
fn is_name_of_namespace(operand: &Expr, field: &str, variable: &dyn Fn(&Expr) -> Option<String>) -> bool {
    let ExprKind::Select { operand: object, field: metadata, .. } = &operand.kind else { return false };
    field == "name" && metadata == "metadata" && variable(object).as_deref() == Some("namespaceObject")
}

/// An input that is not known: one of [`Dependencies`], or part of the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependency {
    /// `request.userInfo`
    User,
    /// `authorizer`
    Authorizer,
    /// `namespaceObject`
    Namespace,
    /// Part of `object`, by its path.
    Field(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::environment::{Declarations, Environments};
    use crdx_value::release::Release;

    fn dependencies(source: &str) -> Dependencies {
        let mut environments = Environments::new(Release::NEWEST);
        environments.add_variable("who", None);
        environments.add_variable("what", None);
        let declarations = Declarations { params: true, authorizer: true, patch_types: false };
        let checked = environments.env(declarations).compile(source).map_err(|issues| issues.display()).expect(source);
        let user = Dependencies { user: true, ..Dependencies::default() };
        let mut variables = OfVariables::default();
        variables.add("who", user);
        variables.add("what", Dependencies::default());
        Dependencies::from_ast(&checked, &variables)
    }

    #[test]
    fn dependencies_are_found_in_the_checked_expression() {
        let (none, all) =
            (Dependencies::default(), |user, authorizer, namespace| Dependencies { user, authorizer, namespace });
        let cases = [
            ("object.request.userInfo == 'request.userInfo'", none),
            ("request.name != '' && request.operation == 'CREATE'", none),
            ("request.userInfo.username == 'a'", all(true, false, false)),
            ("has(request.userInfo)", all(true, false, false)),
            ("[request].all(r, r.name == 'a')", all(true, false, false)),
            ("object.items.all(request, request.userInfo == 1)", none),
            ("variables.who == 1", all(true, false, false)),
            ("variables.what == 1", none),
            ("authorizer.requestResource.check('get').allowed()", all(false, true, false)),
            ("authorizer.group('').resource('pods').check('get').allowed()", all(false, true, false)),
            ("namespaceObject.metadata.name == 'x'", none),
            ("namespaceObject.metadata.labels.env == 'x'", all(false, false, true)),
            ("has(namespaceObject.metadata.name) || namespaceObject == null", all(false, false, true)),
            ("object.list.map(x, x + variables.who)[0] == 1", all(true, false, false)),
        ];
        for (source, expected) in cases {
            assert_eq!(dependencies(source), expected, "{source}");
        }
    }
}
