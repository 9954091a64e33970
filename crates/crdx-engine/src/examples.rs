//! Example objects of a CRD: [`generate`] makes one from the schema, the server checks it, and [`search`] changes it
//! until the server accepts it or the budget is spent. The same CRD always gives the same example. [`built_in`] has examples of built-in kinds.

pub(crate) mod boundaries;
#[cfg(feature = "builtin")]
mod built_in;
pub(crate) mod changes;
mod checker;
pub(crate) mod generate;
mod left_out;
mod rule_changes;
pub(crate) mod search;
pub(crate) mod strings;
pub(crate) mod vocabulary;

#[cfg(feature = "builtin")]
pub use built_in::built_in;
pub(crate) use checker::own_errors;
pub use checker::{Checker, Rejection};
pub use generate::ExampleFields;
pub use left_out::left_out;

use crdx_value::{Map, Value, object};
use search::ChangeOrder;

/// An example object and the server's verdict on creating it.
#[derive(Clone, Debug)]
pub struct Example {
    /// The object as it would be sent.
    pub object: Value,
    /// The reason why the server rejects the object; `None` if it accepts it.
    pub rejection: Option<Rejection>,
}

/// The reason why there is no example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    /// The CRD cannot be decoded.
    #[error("the CRD cannot be read: {0}")]
    Unreadable(#[from] crdx_server::crd::DecodeError),
    /// The server rejects the CRD.
    #[error("the server rejects the CRD: {0}")]
    Rejected(String),
    /// The schema requires a larger object than a server stores.
    #[error(transparent)]
    TooLarge(#[from] generate::TooLarge),
    /// The CRD serves no version.
    #[error("the CRD serves no version")]
    NoVersions,
    /// The CRD does not serve this version.
    #[error("the CRD does not serve version {0}")]
    NoVersion(String),
}

/// Returns an example object of the version that `checker` serves.
///
/// # Errors
/// Returns an error if the schema requires a larger object than a server stores.
pub fn example(checker: &Checker, fields: ExampleFields) -> Result<Example, ExampleError> {
    let start = start(checker, fields)?;
    // An object without its fields is the easiest to accept, but it shows nothing.
    let names: Vec<String> = start.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let has_all = |object: &Value| names.iter().all(|name| object.get(name).is_some());
    for order in [ChangeOrder::Fields, ChangeOrder::Rules] {
        let (object, rejection) = search::accepted_with(checker, start.clone(), search::BUDGET / 2, order, &has_all);
        if rejection.is_none() {
            return Ok(Example { object, rejection });
        }
    }
    let (object, rejection) = search::accepted(checker, start, search::BUDGET);
    Ok(Example { object, rejection })
}

/// Returns the object from which the search starts: generated from the schema, with apiVersion, kind and a name.
///
/// # Errors
/// Returns an error if the schema requires a larger object than a server stores.
pub fn start(checker: &Checker, fields: ExampleFields) -> Result<Value, ExampleError> {
    let mut start = generate::object(&checker.schema, fields)?;
    let none = crdx_server::schema::Schema::default();
    let name = checker.schema.property("metadata").and_then(|metadata| metadata.property("name")).unwrap_or(&none);
    let members = start.as_object_mut().map(std::mem::take).unwrap_or_default();
    let mut all = Map::from([
        ("apiVersion".to_owned(), Value::from(checker.api_version.as_str())),
        ("kind".to_owned(), Value::from(checker.kind.as_str())),
        ("metadata".to_owned(), object([("name", strings::text(name, 0))])),
    ]);
    for (key, value) in members {
        all.entry(key).or_insert(value);
    }
    Ok(Value::Object(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;
    use crdx_value::json;
    use crdx_value::release::Release;

    fn made(schema: &str, fields: ExampleFields) -> (String, Option<String>) {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: kites.example.com}}\nspec: {{group: example.com, scope: Namespaced, names: {{plural: kites, kind: Kite}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, required: [spec], properties: {{spec: {schema}}}}}}}}}]}}"
        );
        let crd = yaml::read(crd.as_bytes()).unwrap();
        let example = example(&Checker::new(&crd, None, Release::NEWEST).unwrap(), fields).unwrap();
        let spec = json::to_string(example.object.get("spec").unwrap_or(&Value::Null));
        (spec, example.rejection.map(|r| r.message))
    }

    #[test]
    fn constraints_are_honoured() {
        let schema = "{type: object, required: [a, b, c, d, e], properties: {a: {type: string, enum: [x, y]}, b: {type: integer, minimum: 3},
            c: {type: array, minItems: 2, x-kubernetes-list-type: set, items: {type: string}}, d: {type: string, pattern: '^v[0-9]+$'},
            e: {type: string, format: date-time}, f: {type: boolean, default: true}}}";
        let (spec, rejection) = made(schema, ExampleFields::Minimal);
        assert_eq!(rejection, None);
        assert_eq!(spec, r#"{"a":"x","b":3,"c":["example","example2"],"d":"v1","e":"2024-01-01T00:00:00Z"}"#);
        let (spec, rejection) = made(schema, ExampleFields::Full);
        assert_eq!((spec.contains("\"f\":true"), rejection), (true, None));
    }

    #[test]
    fn rules_and_unions_are_met() {
        for schema in [
            "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}",
            "{type: object, properties: {a: {type: string, maxLength: 9}, b: {type: integer}}, x-kubernetes-validations: [{rule: has(self.a) != has(self.b)}]}",
            "{type: object, required: [kind], properties: {kind: {type: string, enum: [A, B]}, b: {type: object}}, x-kubernetes-validations: [{rule: \"self.kind != 'A' || has(self.b)\"}, {rule: \"!has(self.b) || self.kind == 'B'\"}]}",
            "{type: object, required: [u], properties: {u: {type: string, maxLength: 90, x-kubernetes-validations: [{rule: \"self.startsWith('s3://')\"}]}}}",
            "{type: object, required: [a, b], properties: {a: {type: integer}, b: {type: integer}}, x-kubernetes-validations: [{rule: self.a + 6 < self.b}]}",
        ] {
            for fields in [ExampleFields::Minimal, ExampleFields::Full] {
                let (spec, rejection) = made(schema, fields);
                assert_eq!(rejection, None, "{spec}");
            }
        }
    }

    #[test]
    fn functions_of_kubernetes_are_met() {
        for rule in [
            "isQuantity(self)",
            "duration(self) > duration('1h')",
            "isSemver(self)",
            "isIP(self)",
            "isURL(self)",
            "quantity(self).isGreaterThan(quantity('1Gi'))",
            "semver(self).compareTo(semver('1.0.0')) > 0",
            "!format.dns1123Label().validate(self).hasValue()",
        ] {
            let schema = format!(
                "{{type: object, properties: {{a: {{type: string, maxLength: 20, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}}}}}"
            );
            let (spec, rejection) = made(&schema, ExampleFields::Full);
            assert!(rejection.is_none() && spec.contains("\"a\""), "{rule}: {spec} {rejection:?}");
        }
    }

    #[test]
    fn rules_of_one_node_may_use_functions_of_many_libraries() {
        let string = "{type: string, maxLength: 60}";
        let names = ["memory", "timeout", "version", "address", "endpoint", "host"];
        let properties: Vec<String> = names.iter().map(|name| format!("{name}: {string}")).collect();
        let rules = [
            "quantity(self.memory).isGreaterThan(quantity('64Mi'))",
            "duration(self.timeout) >= duration('1m') && duration(self.timeout) < duration('1h')",
            "semver(self.version).compareTo(semver('1.20.0')) >= 0",
            "isIP(self.address) && cidr('10.0.0.0/8').containsIP(self.address)",
            "isURL(self.endpoint) && url(self.endpoint).getScheme() == 'https'",
            "!format.dns1123Subdomain().validate(self.host).hasValue() && self.host.endsWith('.example.org')",
        ];
        let rules: Vec<String> = rules.iter().map(|rule| format!("{{rule: \"{rule}\"}}")).collect();
        let schema = format!(
            "{{type: object, required: [{}], properties: {{{}}}, x-kubernetes-validations: [{}]}}",
            names.join(", "),
            properties.join(", "),
            rules.join(", ")
        );
        for fields in [ExampleFields::Minimal, ExampleFields::Full] {
            let (spec, rejection) = made(&schema, fields);
            assert_eq!(rejection, None, "{spec}");
        }
    }

    #[test]
    fn an_example_that_would_be_too_large_is_an_error() {
        let nested = |leaf: &str, levels: usize| {
            (0..levels).fold(leaf.to_owned(), |schema, _| format!("{{type: array, minItems: 60, items: {schema}}}"))
        };
        for schema in [
            nested("{type: string}", 7),
            nested("{type: string, minLength: 4000}", 3),
            "{type: object, additionalProperties: {type: string}, minProperties: 1000000000}".to_owned(),
            nested(&format!("{{type: string, default: {}}}", "x".repeat(400)), 4),
        ] {
            let made = generate::value_of(&schema);
            assert_eq!(made, Err(generate::TooLarge), "{schema}");
        }
        assert!(generate::value_of(&nested("{type: string}", 2)).is_ok());
    }

    #[test]
    fn rules_that_no_object_meets_are_reported() {
        let schema = "{type: object, x-kubernetes-validations: [{rule: 'false', message: never}]}";
        assert!(made(schema, ExampleFields::Minimal).1.unwrap().contains("never"));
    }
}
