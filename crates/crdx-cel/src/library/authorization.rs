//! Authorization checks (`k8s.io/apiserver/pkg/cel/library/authz.go`). These functions also exist in CRD rules, but no
//! CRD rule has an authorizer to call them on.

use super::{CallCost, Overload};
use crate::value::{
    Access, Attributes, AuthorizationSubject, Decision, Error, Opaque, PathCheck, ResourceCheck, Text, User, Value,
    Verdict,
};
use crdx_value::names;
use crdx_value::release::{Minor, V1_31};
use std::sync::Arc;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::member(
        "path",
        "authorizer_path",
        "(kubernetes.authorization.Authorizer, string) -> kubernetes.authorization.PathCheck",
        CallCost::One,
        path,
    )
    .since(Minor(27)),
    Overload::member(
        "group",
        "authorizer_group",
        "(kubernetes.authorization.Authorizer, string) -> kubernetes.authorization.GroupCheck",
        CallCost::One,
        group,
    )
    .since(Minor(27)),
    Overload::member(
        "serviceAccount",
        "authorizer_serviceaccount",
        "(kubernetes.authorization.Authorizer, string, string) -> kubernetes.authorization.Authorizer",
        CallCost::One,
        service_account,
    )
    .since(Minor(27)),
    Overload::member(
        "resource",
        "groupcheck_resource",
        "(kubernetes.authorization.GroupCheck, string) -> kubernetes.authorization.ResourceCheck",
        CallCost::One,
        resource,
    )
    .since(Minor(27)),
    Overload::member(
        "subresource",
        "resourcecheck_subresource",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        CallCost::One,
        |args| with(args, |check, text| check.subresource = text),
    )
    .since(Minor(27)),
    Overload::member(
        "namespace",
        "resourcecheck_namespace",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        CallCost::One,
        |args| with(args, |check, text| check.namespace = text),
    )
    .since(Minor(27)),
    Overload::member(
        "name",
        "resourcecheck_name",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        CallCost::One,
        |args| with(args, |check, text| check.name = text),
    )
    .since(Minor(27)),
    Overload::member(
        "check",
        "pathcheck_check",
        "(kubernetes.authorization.PathCheck, string) -> kubernetes.authorization.Decision",
        CallCost::Authorize,
        check_path,
    )
    .since(Minor(27)),
    Overload::member(
        "check",
        "resourcecheck_check",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.Decision",
        CallCost::Authorize,
        check_resource,
    )
    .since(Minor(27)),
    Overload::member(
        "errored",
        "decision_errored",
        "(kubernetes.authorization.Decision) -> bool",
        CallCost::One,
        |args| of(args, |d| Value::Bool(d.verdict == Verdict::Failed)),
    )
    .since(Minor(27)),
    Overload::member(
        "error",
        "decision_error",
        "(kubernetes.authorization.Decision) -> string",
        CallCost::One,
        |args| of(args, |d| text(if d.verdict == Verdict::Failed { &d.reason } else { "" })),
    )
    .since(Minor(27)),
    Overload::member(
        "allowed",
        "decision_allowed",
        "(kubernetes.authorization.Decision) -> bool",
        CallCost::One,
        |args| of(args, |d| Value::Bool(d.verdict == Verdict::Allow)),
    )
    .since(Minor(27)),
    Overload::member(
        "reason",
        "decision_reason",
        "(kubernetes.authorization.Decision) -> string",
        CallCost::One,
        |args| of(args, |d| text(if d.verdict == Verdict::Failed { "" } else { &d.reason })),
    )
    .since(Minor(27)),
    Overload::member(
        "fieldSelector",
        "authorizer_fieldselector",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        CallCost::Selector,
        |args| with(args, |_, _| ()),
    )
    .since(V1_31),
    Overload::member(
        "labelSelector",
        "authorizer_labelselector",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        CallCost::Selector,
        |args| with(args, |_, _| ()),
    )
    .since(V1_31),
];

fn opaque<'a>(value: Opaque) -> Value<'a> {
    Value::Opaque(Arc::new(value))
}

fn text<'a>(text: &str) -> Value<'a> {
    Value::string(text.to_owned())
}

/// The receiver, if it has a Kubernetes type.
fn receiver<'v>(value: &'v Value<'_>) -> Result<&'v Opaque, Error> {
    match value {
        Value::Opaque(o) => Ok(o),
        _ => Err(Error::no_such_overload()),
    }
}

fn subject<'v>(value: &'v Value<'_>) -> Result<&'v AuthorizationSubject, Error> {
    match receiver(value)? {
        Opaque::Authorizer(subject) => Ok(subject),
        _ => Err(Error::no_such_overload()),
    }
}

fn path<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [authorizer, Value::String(path)] = args else { return Err(Error::no_such_overload()) };
    let subject = subject(authorizer)?.clone();
    if path.trim().is_empty() {
        return Err(Error::new("path must not be empty"));
    }
    Ok(opaque(Opaque::PathCheck(PathCheck { subject, path: path.to_string() })))
}

fn group<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [authorizer, Value::String(group)] = args else { return Err(Error::no_such_overload()) };
    let check = ResourceCheck {
        subject: subject(authorizer)?.clone(),
        group: group.to_string(),
        resource: String::new(),
        subresource: String::new(),
        namespace: String::new(),
        name: String::new(),
    };
    Ok(opaque(Opaque::GroupCheck(check)))
}

fn service_account<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [authorizer, Value::String(namespace), Value::String(name)] = args else {
        return Err(Error::no_such_overload());
    };
    let subject = subject(authorizer)?;
    if !names::dns1123_subdomain(name.as_bytes()).is_empty() {
        return Err(Error::new("Invalid service account name"));
    }
    if !names::dns1123_label(namespace.as_bytes()).is_empty() {
        return Err(Error::new("Invalid service account namespace"));
    }
    let user = Arc::new(User::service_account(namespace, name));
    Ok(opaque(Opaque::Authorizer(AuthorizationSubject { user, authorizer: Arc::clone(&subject.authorizer) })))
}

fn resource<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [check, Value::String(resource)] = args else { return Err(Error::no_such_overload()) };
    let Opaque::GroupCheck(check) = receiver(check)? else { return Err(Error::no_such_overload()) };
    if resource.trim().is_empty() {
        return Err(Error::new("resource must not be empty"));
    }
    Ok(opaque(Opaque::ResourceCheck(ResourceCheck { resource: resource.to_string(), ..check.clone() })))
}

/// Returns the check with one attribute set.
fn with<'a>(args: &[Value<'a>], set: fn(&mut ResourceCheck, String)) -> Result<Value<'a>, Error> {
    let [check, Value::String(text)] = args else { return Err(Error::no_such_overload()) };
    let Opaque::ResourceCheck(check) = receiver(check)? else { return Err(Error::no_such_overload()) };
    let mut check = check.clone();
    set(&mut check, text.to_string());
    Ok(opaque(Opaque::ResourceCheck(check)))
}

fn check_path<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [check, Value::String(verb)] = args else { return Err(Error::no_such_overload()) };
    let Opaque::PathCheck(check) = receiver(check)? else { return Err(Error::no_such_overload()) };
    Ok(decide(&check.subject, verb, Access::Path(&check.path)))
}

fn check_resource<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [check, Value::String(verb)] = args else { return Err(Error::no_such_overload()) };
    let Opaque::ResourceCheck(check) = receiver(check)? else { return Err(Error::no_such_overload()) };
    Ok(decide(&check.subject, verb, Access::Resource(check)))
}

fn decide<'a>(subject: &AuthorizationSubject, verb: &Text<'_>, access: Access<'_>) -> Value<'a> {
    let decision = subject.authorizer.authorize(&subject.user, &Attributes { verb, access });
    opaque(Opaque::Decision(decision))
}

fn of<'a>(args: &[Value<'a>], get: fn(&Decision) -> Value<'a>) -> Result<Value<'a>, Error> {
    let [decision] = args else { return Err(Error::no_such_overload()) };
    let Opaque::Decision(decision) = receiver(decision)? else { return Err(Error::no_such_overload()) };
    Ok(get(decision))
}
