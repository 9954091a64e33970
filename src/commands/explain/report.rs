//! Formats the output of `kubectl explain` from an OpenAPI document: [`plaintext`] from version 3, [`openapi_v2`] from
//! version 2. The text is identical to that of kubectl 1.37.

mod openapi_v2;
mod plaintext;
pub mod rules;
mod wrap;

pub use openapi_v2::openapi_v2;
pub use plaintext::plaintext;

use crdx_engine::profile::published_schemas;
use crdx_value::Value;

/// The field to explain, and the options.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    /// The OpenAPI document.
    pub document: &'a Value,
    /// The group of the kind.
    pub group: &'a str,
    /// The version of the kind.
    pub version: &'a str,
    pub kind: &'a str,
    /// The names of the field's path; empty for the object itself.
    pub fields: &'a [String],
    /// True to list nested fields.
    pub recursive: bool,
    /// The maximum depth of nested fields with `recursive`; 0 for no limit.
    pub max_depth: usize,
}

impl Explained<'_> {
    /// Returns the schema of the kind from `schemas`.
    fn schema<'d>(&self, schemas: Option<&'d Value>) -> Option<&'d Value> {
        published_schemas::of_kind(schemas?, (self.group, self.version, self.kind))
    }
}

/// A text, complete or up to the point at which kubectl fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub text: String,
    /// kubectl's error.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::crd::{decode, openapi};
    use crdx_text::yaml;

    const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: kites, kind: Kite}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: A kite that is flown on windy days by people of any age, in parks and on beaches, and that may be lost.
        required: [spec]
        properties:
          spec:
            type: object
            required: [a]
            properties:
              a: {type: string, description: A text., enum: [x, '', v, z, w]}
              b: {x-kubernetes-int-or-string: true}
              c: {type: array, items: {type: object, properties: {d: {type: integer}}}}
              e: {type: object, additionalProperties: {type: boolean}}
";

    fn explain(fields: &[&str], recursive: bool, v2: bool) -> Explanation {
        let crd = decode(&yaml::read(CRD.as_bytes()).unwrap()).unwrap().crd;
        let release = crdx_value::release::Release::NEWEST;
        let document = if v2 { openapi::v2(&crd, "v1", release) } else { openapi::v3(&crd, "v1", release) };
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        let explained = Explained {
            document: &document,
            group: "example.com",
            version: "v1",
            kind: "Kite",
            fields: &fields,
            recursive,
            max_depth: 0,
        };
        if v2 { openapi_v2(explained) } else { plaintext(explained) }
    }

    #[test]
    fn a_field_is_explained_as_by_kubectl() {
        let text = explain(&["spec"], false, false).text;
        let want = "GROUP:      example.com
KIND:       Kite
VERSION:    v1

FIELD: spec <Object>


DESCRIPTION:
    <empty>
FIELDS:
  a\t<string> -required-
  enum: x, \"\", v, z, ....
    A text.

  b\t<Object>
    <no description>

  c\t<[]Object>
    <no description>

  e\t<map[string]boolean>
    <no description>


";
        assert_eq!(text, want);
        let text = explain(&["spec"], true, false).text;
        assert!(text.ends_with("  c\t<[]Object>\n    d\t<integer>\n  e\t<map[string]boolean>\n\n"), "{text}");
    }

    #[test]
    fn a_missing_field_is_an_error_after_the_kind() {
        let Explanation { text, error } = explain(&["spec", "q"], false, false);
        assert_eq!(text, "GROUP:      example.com\nKIND:       Kite\nVERSION:    v1\n\n");
        assert_eq!(error.as_deref(), Some("field \"q\" does not exist"));
        assert_eq!(explain(&["q"], false, true).error.as_deref(), Some("field \"q\" does not exist"));
    }

    #[test]
    fn version_2_has_its_own_layout() {
        let text = explain(&["spec", "c"], false, true).text;
        let want = "KIND:     Kite\nVERSION:  example.com/v1\n\nRESOURCE: c <[]Object>\n\nDESCRIPTION:\n     <empty>\n\nFIELDS:\n   d\t<integer>\n\n";
        assert_eq!(text, want);
    }
}
