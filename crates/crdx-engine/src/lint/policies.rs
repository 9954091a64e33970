//! Findings about an admission policy beyond the server's verdict: type-checking warnings for the given types, and the
//! estimated cost of every expression.
//!
//! ```text
//! misspelt    the field that an expression probably means
//! references  the policy and the params that a binding refers to
//! ```

mod misspelt;
pub mod references;

use crdx_cel::{
    ast::{Expr, ExprKind},
    cost,
    decl::DeclType,
    env::Env,
    eval::PER_CALL_LIMIT,
};
use crdx_server::policies::environment::{Declarations, Environments};
use crdx_server::policies::model::Policy;
use crdx_server::policies::request::Kind;
use crdx_server::policies::type_checking::{self, ExpressionWarning, KnownType, Matched, TypeCheckingSubject, Untyped};
use crdx_types::table::table;
use crdx_value::Value;
use crdx_value::release::Release;
use misspelt::misspelt;
use std::collections::BTreeSet;

/// An estimate of this size results from an unbounded size, because such estimates start at the largest integer.
const UNBOUNDED: u64 = 1 << 50;

/// The findings about a policy.
#[derive(Clone, Debug, Default)]
pub struct PolicyFindings {
    /// The warnings that the server writes to `status.typeChecking`.
    pub warnings: Vec<Warning>,
    /// Warnings of the same form that the server does not report: for expressions other than validations and their
    /// messages, for mutating policies, and for types that rules with a `*` match.
    pub own_warnings: Vec<Warning>,
    /// The expressions, in the order of the policy's fields.
    pub expressions: Vec<ExpressionCost>,
    /// The reasons why some types are not checked.
    pub notes: Vec<String>,
}

/// A type-checking warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The expression: `spec.validations[0].expression`.
    pub field: String,
    /// The server's message.
    pub text: String,
    /// A suggestion for a misspelt field.
    pub help: Option<String>,
}

/// The estimate of one expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionCost {
    /// The expression: `spec.validations[0].expression`.
    pub field: String,
    /// The source text.
    pub text: String,
    /// The highest cost of one evaluation for any type; `None` if the expression does not compile or the types do not
    /// limit the cost.
    pub cost: Option<u64>,
}

impl ExpressionCost {
    /// Returns the cost as a share of the limit for one evaluation, in percent.
    pub fn percent(&self) -> Option<f64> {
        self.cost.map(|cost| cost as f64 / PER_CALL_LIMIT as f64 * 100.0)
    }
}

struct PolicyExpression<'v> {
    field: String,
    text: &'v str,
    /// True if the server checks the types of this expression.
    checked: bool,
    patch_types: bool,
}

/// Checks a policy against the given types. Bindings have no expressions.
pub fn findings(object: &Value, types: &[KnownType], release: Release) -> PolicyFindings {
    let policy = Policy::read(object, release);
    let matched = type_checking::matched(&policy, types, release);
    let is_validating = object.str_at(&["kind"]) == Some("ValidatingAdmissionPolicy");
    let of = |kinds: &BTreeSet<Kind>, untyped| type_checking::subjects(&policy, kinds, types, release, untyped);
    let by_server = if is_validating { of(&matched.kinds, Untyped::Hidden) } else { Vec::new() };
    let named = of(&matched.kinds, Untyped::Dyn);
    let by_wildcard = of(&matched.by_wildcard, Untyped::Dyn);
    let mut found = PolicyFindings { notes: notes(&policy, &matched, types, release), ..PolicyFindings::default() };
    let declarations = Declarations { params: policy.param_kind.is_some(), authorizer: true, patch_types: false };
    let untyped = untyped(&policy, release, declarations);
    for expression in expressions(object) {
        let declarations = Declarations { patch_types: expression.patch_types, ..declarations };
        let own_env = |subject: &TypeCheckingSubject| subject.env(expression.patch_types);
        if expression.checked && is_validating {
            found.warnings.extend(warning(&expression, &by_server, TypeCheckingSubject::server_env));
        } else {
            found.own_warnings.extend(warning(&expression, &named, own_env));
        }
        found.own_warnings.extend(warning(&expression, &by_wildcard, own_env));
        let subjects: Vec<&TypeCheckingSubject> = named.iter().chain(&by_wildcard).collect();
        let cost = estimate(&expression, declarations, &subjects, &untyped);
        found.expressions.push(ExpressionCost { field: expression.field, text: expression.text.to_owned(), cost });
    }
    found
}

fn warning(
    expression: &PolicyExpression<'_>,
    subjects: &[TypeCheckingSubject],
    env: impl Fn(&TypeCheckingSubject) -> Env,
) -> Option<Warning> {
    let warning = type_checking::check_expression(&expression.field, expression.text, subjects, &env)?;
    let help = subjects.iter().find_map(|subject| misspelt(expression.text, &env(subject)));
    Some(Warning { field: expression.field.clone(), text: text(&warning), help })
}

fn text(warning: &ExpressionWarning) -> String {
    warning.warning().trim_end().to_owned()
}

/// Returns the reasons why types that the policy matches are not checked.
fn notes(policy: &Policy, matched: &Matched, types: &[KnownType], release: Release) -> Vec<String> {
    let mut notes = Vec::new();
    let is_built_in = |resource: &&String| match resource.split('/').collect::<Vec<_>>().as_slice() {
        [group, _, _] => table().has_group(group),
        _ => true,
    };
    let (built_in, custom): (Vec<&String>, Vec<&String>) = matched.unknown.iter().partition(is_built_in);
    let listed = |resources: &[&String]| resources.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(", ");
    if !custom.is_empty() {
        let custom = listed(&custom);
        notes.push(format!("types are not checked for {custom}: no known CRD defines them; give it with --crds"));
    }
    if !built_in.is_empty() {
        let built_in = listed(&built_in);
        notes.push(format!("types are not checked for {built_in}: Kubernetes {release} does not serve it by default"));
    }
    if matched.wildcard && matched.by_wildcard.is_empty() {
        notes.push("types are not checked for rules with *: they match no known CRD".to_owned());
    }
    if matched.truncated {
        notes.push("types are checked for the first 10 kinds of a rule only, as on the server".to_owned());
    }
    if let Some(kind) = &policy.param_kind
        && type_checking::params(policy, types, release).is_none()
    {
        let of = format!("{} {}", kind.api_version, kind.kind);
        notes.push(format!("the type of params is not checked: no known CRD defines {of}; give it with --crds"));
    }
    notes
}

/// Returns the expressions of a policy.
fn expressions(object: &Value) -> Vec<PolicyExpression<'_>> {
    let mut found = Vec::new();
    let lists: [(&str, &[&[&str]], bool); 5] = [
        ("matchConditions", &[&["expression"]], false),
        ("variables", &[&["expression"]], false),
        ("validations", &[&["expression"], &["messageExpression"]], true),
        ("auditAnnotations", &[&["valueExpression"]], false),
        ("mutations", &[&["applyConfiguration", "expression"], &["jsonPatch", "expression"]], false),
    ];
    for (list, fields, checked) in lists {
        let items = object.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            for path in fields {
                if let Some(text) = item.str_at(path).filter(|text| !text.trim().is_empty()) {
                    let field = format!("spec.{list}[{index}].{}", path.join("."));
                    found.push(PolicyExpression { field, text, checked, patch_types: list == "mutations" });
                }
            }
        }
    }
    found
}

/// Returns environments in which the object of the policy may have any type.
fn untyped(policy: &Policy, release: Release, declarations: Declarations) -> Environments {
    let mut environments = Environments::new(release);
    for variable in &policy.variables {
        let checked = environments.env_for(declarations, &variable.expression).compile(&variable.expression);
        let type_ = checked.ok().map(|checked| checked.result_type().clone());
        environments.add_variable(&variable.name, type_.as_ref());
    }
    environments
}

/// Returns the highest cost of an expression for one of the types, or for any object if there are none.
fn estimate(
    expression: &PolicyExpression<'_>,
    declarations: Declarations,
    subjects: &[&TypeCheckingSubject],
    untyped: &Environments,
) -> Option<u64> {
    let cost = |env: Env, root: Option<&DeclType>| {
        let checked = env.compile(expression.text).ok()?;
        let root = root.filter(|_| !reads(&checked.ast.expr, "params"));
        Some(cost::estimate(&checked, root).max)
    };
    if subjects.is_empty() {
        return cost(untyped.env_for(declarations, expression.text), None).filter(|cost| *cost < UNBOUNDED);
    }
    let costs = subjects.iter().map(|subject| cost(subject.env(expression.patch_types), subject.object.as_deref()));
    costs.collect::<Option<Vec<u64>>>()?.into_iter().max().filter(|cost| *cost < UNBOUNDED)
}

/// Returns true if an expression uses a variable. The types do not limit the sizes of params.
fn reads(expr: &Expr, variable: &str) -> bool {
    expr.any(&|expr| matches!(&expr.kind, ExprKind::Ident(name) if name == variable))
}

#[cfg(test)]
mod tests;
