//! The paths and operations of a kind (`controller/openapi/builder/builder.go`, `kube-openapi/pkg/builder{,3}`).
//!
//! Parameters common to all operations of a path are declared at the path. In OpenAPI v2, parameters that do not depend
//! on the kind are references to shared parameters, except `dryRun` and `fieldValidation`, for compatibility with old
//! versions of kubectl.

use super::{META, OpenApiVersion, SCALE, common, model_name};
use crate::crd::CustomResourceDefinition;
use crdx_value::{Map, Value, object};

const JSON_AND_YAML: [&str; 2] = ["application/json", "application/yaml"];
const PATCHES: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const LIST_OPTIONS: [&str; 11] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];

/// The schema of a request or response body.
#[derive(Clone, Copy, PartialEq)]
enum Model {
    Kind,
    List,
    Status,
    Scale,
    Patch,
    DeleteOptions,
}

struct OpenApiOperation {
    method: &'static str,
    /// `x-kubernetes-action`
    action: &'static str,
    /// The first word of the description and of the operation id.
    verb: &'static str,
    body: Option<Model>,
    answer: Model,
    codes: &'static [(u16, &'static str)],
    options: &'static [&'static str],
}

const OK: (u16, &str) = (200, "OK");
const CREATED: (u16, &str) = (201, "Created");
const ACCEPTED: (u16, &str) = (202, "Accepted");

const LIST: OpenApiOperation = OpenApiOperation {
    method: "get",
    action: "list",
    verb: "list",
    body: None,
    answer: Model::List,
    codes: &[OK],
    options: &LIST_OPTIONS,
};
const CREATE: OpenApiOperation = OpenApiOperation {
    method: "post",
    action: "post",
    verb: "create",
    body: Some(Model::Kind),
    answer: Model::Kind,
    codes: &[OK, CREATED, ACCEPTED],
    options: &["dryRun", "fieldManager", "fieldValidation"],
};
const DELETE_COLLECTION: OpenApiOperation = OpenApiOperation {
    method: "delete",
    action: "deletecollection",
    verb: "deletecollection",
    body: None,
    answer: Model::Status,
    codes: &[OK],
    options: &LIST_OPTIONS,
};
const DELETE: OpenApiOperation = OpenApiOperation {
    method: "delete",
    action: "delete",
    verb: "delete",
    body: Some(Model::DeleteOptions),
    answer: Model::Status,
    codes: &[OK, ACCEPTED],
    options: &[
        "dryRun",
        "gracePeriodSeconds",
        "ignoreStoreReadErrorWithClusterBreakingPotential",
        "orphanDependents",
        "propagationPolicy",
    ],
};
/// A GET of the object or of a subresource.
const fn read(answer: Model) -> OpenApiOperation {
    OpenApiOperation {
        method: "get",
        action: "get",
        verb: "read",
        body: None,
        answer,
        codes: &[OK],
        options: &["resourceVersion"],
    }
}
const fn replace(answer: Model) -> OpenApiOperation {
    OpenApiOperation {
        method: "put",
        action: "put",
        verb: "replace",
        body: Some(answer),
        answer,
        codes: &[OK, CREATED],
        options: &["dryRun", "fieldManager", "fieldValidation"],
    }
}
const fn patch(answer: Model) -> OpenApiOperation {
    OpenApiOperation {
        method: "patch",
        action: "patch",
        verb: "patch",
        body: Some(Model::Patch),
        answer,
        codes: &[OK],
        options: &["dryRun", "fieldManager", "fieldValidation", "force"],
    }
}

/// Builds `paths`.
pub fn paths(crd: &CustomResourceDefinition, version: &str, openapi_version: OpenApiVersion) -> Map {
    let spec = &crd.spec;
    let writer = PathsWriter { crd, version, openapi_version };
    let mut out = Map::new();
    let mut root = format!("/apis/{}/{version}/{}", spec.group, spec.names.plural);
    if spec.namespaced() {
        out.insert(root, writer.list_all_namespaces());
        root = format!("/apis/{}/{version}/namespaces/{{namespace}}/{}", spec.group, spec.names.plural);
    }
    out.insert(root.clone(), writer.path("", &[LIST, CREATE, DELETE_COLLECTION]));
    let object = format!("{root}/{{name}}");
    let whole = [read(Model::Kind), replace(Model::Kind), DELETE, patch(Model::Kind)];
    out.insert(object.clone(), writer.path("", &whole));
    let subresources = spec.subresources(version);
    if subresources.is_some_and(|s| s.status) {
        let all = [read(Model::Kind), replace(Model::Kind), patch(Model::Kind)];
        out.insert(format!("{object}/status"), writer.path("status", &all));
    }
    if subresources.is_some_and(|s| s.scale.is_some()) {
        let all = [read(Model::Scale), replace(Model::Scale), patch(Model::Scale)];
        out.insert(format!("{object}/scale"), writer.path("scale", &all));
    }
    out
}

struct PathsWriter<'a> {
    crd: &'a CustomResourceDefinition,
    version: &'a str,
    openapi_version: OpenApiVersion,
}

impl PathsWriter<'_> {
    fn kind(&self) -> &str {
        &self.crd.spec.names.kind
    }

    /// The list across all namespaces. All parameters of its only operation are declared at the path.
    fn list_all_namespaces(&self) -> Value {
        let mut parameters: Vec<&str> = LIST_OPTIONS.to_vec();
        parameters.insert(5, "pretty");
        let id = format!("{}ForAllNamespaces", self.kind());
        object([
            ("get", self.operation("", &LIST, &id, &[])),
            ("parameters", Value::Array(self.parameters(&parameters, false))),
        ])
    }

    fn path(&self, subresource: &str, operations: &[OpenApiOperation]) -> Value {
        let namespaced = if self.crd.spec.namespaced() { "Namespaced" } else { "" };
        let mut title = subresource.to_owned();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let id = format!("{namespaced}{}{title}", self.kind());
        let mut out = Map::new();
        for operation in operations {
            let written = self.operation(subresource, operation, &id, operation.options);
            out.insert(operation.method.to_owned(), written);
        }
        let of_object = operations.iter().any(|o| o.action == "get");
        let mut parameters = Vec::new();
        if of_object {
            parameters.push(self.name_parameter());
        }
        let mut shared = vec!["pretty"];
        if self.crd.spec.namespaced() {
            shared.insert(0, "namespace");
        }
        parameters.append(&mut self.parameters(&shared, false));
        out.insert("parameters".to_owned(), Value::Array(parameters));
        Value::Object(out)
    }

    fn operation(&self, subresource: &str, operation: &OpenApiOperation, id: &str, options: &[&str]) -> Value {
        let spec = &self.crd.spec;
        let group = spec.group.strip_suffix(".k8s.io").unwrap_or(&spec.group);
        let (verb, rest) = match operation.verb {
            "deletecollection" => ("delete", format!("collection{id}")),
            verb => (verb, id.to_owned()),
        };
        let id = format!("{verb}{}{}{}", valid_id(group, true), valid_id(self.version, true), valid_id(&rest, true));
        let tag = format!("{}_{}", valid_id(group, false), valid_id(self.version, false));
        let kind = object([("group", spec.group.as_str()), ("kind", self.kind()), ("version", self.version)]);
        let mut out = Map::from([
            ("description".to_owned(), Value::from(self.description(subresource, operation.verb))),
            ("operationId".to_owned(), Value::from(id)),
            ("tags".to_owned(), Value::Array(vec![Value::from(tag)])),
            ("x-kubernetes-action".to_owned(), Value::from(operation.action)),
            ("x-kubernetes-group-version-kind".to_owned(), kind),
            ("responses".to_owned(), self.responses(operation)),
        ]);
        let consumes = if operation.method == "patch" { &PATCHES[..] } else { &JSON_AND_YAML[..] };
        let mut parameters = self.parameters(options, operation.method == "patch");
        let required = operation.body != Some(Model::DeleteOptions);
        let list = |items: &[&str]| Value::Array(items.iter().map(|s| Value::from(*s)).collect());
        match self.openapi_version {
            OpenApiVersion::V2 => {
                if let Some(body) = operation.body {
                    parameters.insert(0, self.body_parameter(body, required));
                }
                out.insert("consumes".to_owned(), list(consumes));
                out.insert("produces".to_owned(), list(&JSON_AND_YAML));
                out.insert("schemes".to_owned(), list(&["https"]));
            }
            OpenApiVersion::V3 => {
                if let Some(body) = operation.body {
                    let mut request = Map::from([("content".to_owned(), self.content(body, consumes))]);
                    if required {
                        request.insert("required".to_owned(), Value::Bool(true));
                    }
                    out.insert("requestBody".to_owned(), Value::Object(request));
                }
            }
        }
        if !parameters.is_empty() {
            out.insert("parameters".to_owned(), Value::Array(parameters));
        }
        Value::Object(out)
    }

    fn responses(&self, operation: &OpenApiOperation) -> Value {
        let mut out = Map::from([("401".to_owned(), object([("description", "Unauthorized")]))]);
        for (code, description) in operation.codes {
            let mut response = Map::from([("description".to_owned(), Value::from(*description))]);
            match self.openapi_version {
                OpenApiVersion::V2 => response.insert("schema".to_owned(), self.reference(operation.answer)),
                OpenApiVersion::V3 => {
                    response.insert("content".to_owned(), self.content(operation.answer, &JSON_AND_YAML))
                }
            };
            out.insert(code.to_string(), Value::Object(response));
        }
        Value::Object(out)
    }

    fn content(&self, model: Model, types: &[&str]) -> Value {
        object(types.iter().map(|t| (*t, object([("schema", self.reference(model))]))))
    }

    fn reference(&self, model: Model) -> Value {
        let spec = &self.crd.spec;
        let name = match model {
            Model::Kind => model_name(&spec.group, self.version, &spec.names.kind),
            Model::List => model_name(&spec.group, self.version, &spec.names.list_kind),
            Model::Scale => SCALE.to_owned(),
            Model::Status => format!("{META}Status"),
            Model::Patch => format!("{META}Patch"),
            Model::DeleteOptions => format!("{META}DeleteOptions"),
        };
        self.openapi_version.reference(&name)
    }

    fn name_parameter(&self) -> Value {
        let mut out = Map::from([
            ("name".to_owned(), Value::from("name")),
            ("in".to_owned(), Value::from("path")),
            ("description".to_owned(), Value::from(format!("name of the {}", self.kind()))),
            ("required".to_owned(), Value::Bool(true)),
        ]);
        let type_ = [("type", Value::from("string")), ("uniqueItems", Value::Bool(true))];
        match self.openapi_version {
            OpenApiVersion::V2 => out.extend(type_.map(|(k, v)| (k.to_owned(), v))),
            OpenApiVersion::V3 => {
                out.insert("schema".to_owned(), object(type_));
            }
        }
        Value::Object(out)
    }

    /// The body parameter, which exists only in OpenAPI v2.
    fn body_parameter(&self, body: Model, required: bool) -> Value {
        let schema = self.reference(body);
        if matches!(body, Model::Patch | Model::DeleteOptions) {
            let shared = common("parameters").iter().find(|(_, p)| p.get("schema") == Some(&schema));
            return shared.map(|(name, _)| shared_parameter(name)).unwrap_or_default();
        }
        object([
            ("in", Value::from("body")),
            ("name", Value::from("body")),
            ("required", Value::Bool(required)),
            ("schema", schema),
        ])
    }

    /// The parameters with these names, which must be sorted.
    fn parameters(&self, names: &[&str], patch: bool) -> Vec<Value> {
        names.iter().map(|name| self.parameter(name, patch)).collect()
    }

    fn parameter(&self, name: &str, patch: bool) -> Value {
        let own = common("ownParameters").get(name);
        let found = own.map(|p| ("", p)).or_else(|| {
            let named = common("parameters").iter().filter(|(_, p)| p.str_at(&["name"]) == Some(name));
            // The description of `fieldManager` is different for apply, which requires it.
            let is_for_apply = |p: &Value| p.str_at(&["description"]).is_some_and(|d| d.contains("apply requests"));
            let mut named = named.filter(|(_, p)| name != "fieldManager" || is_for_apply(p) == patch);
            named.next().map(|(key, p)| (key.as_str(), p))
        });
        let Some((key, p)) = found else { return Value::Null };
        if self.openapi_version == OpenApiVersion::V2 {
            return if own.is_some() { p.clone() } else { shared_parameter(key) };
        }
        // OpenAPI v3 has the type in a nested `schema`.
        let mut out = Map::new();
        let mut schema = Map::new();
        for (key, v) in p.as_object().into_iter().flatten() {
            let part = if matches!(key.as_str(), "type" | "uniqueItems") { &mut schema } else { &mut out };
            part.insert(key.clone(), v.clone());
        }
        out.insert("schema".to_owned(), Value::Object(schema));
        Value::Object(out)
    }

    fn description(&self, subresource: &str, verb: &str) -> String {
        let kind = self.kind();
        let of = if subresource.is_empty() { String::new() } else { format!(" {subresource} of") };
        match verb {
            "deletecollection" => format!("delete collection of{of} {kind}"),
            "list" => format!("list{of} objects of kind {kind}"),
            "patch" => format!("partially update{of} the specified {kind}"),
            "create" | "delete" => format!("{verb}{of}{}{kind}", article(kind)),
            verb => format!("{verb}{of} the specified {kind}"),
        }
    }
}

fn shared_parameter(name: &str) -> Value {
    object([("$ref", format!("#/parameters/{name}"))])
}

/// The indefinite article with surrounding spaces, or a single space before plurals.
fn article(noun: &str) -> &'static str {
    if noun.ends_with('s') && !noun.ends_with("ss") {
        " "
    } else if noun.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) {
        " an "
    } else {
        " a "
    }
}

/// Removes all characters except letters, digits and underscores, and converts to camel case (`ToValidOperationID`).
fn valid_id(text: &str, mut capitalize: bool) -> String {
    let mut out = String::new();
    for (i, c) in text.char_indices() {
        if c.is_alphabetic() || c == '_' || i != 0 && c.is_numeric() {
            if capitalize {
                out.extend(c.to_uppercase());
                capitalize = false;
            } else {
                out.push(c);
            }
        } else {
            capitalize = true;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_articles_are_the_servers() {
        assert_eq!(valid_id("lab.acme-1.io", false), "labAcme1Io");
        assert_eq!(valid_id("NamespacedGizmo", true), "NamespacedGizmo");
        assert_eq!(valid_id("1a", true), "A");
        assert_eq!([article("Apple"), article("Pass"), article("Gizmos")], [" an ", " a ", " "]);
    }
}
