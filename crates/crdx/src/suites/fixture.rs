//! The CRD that the tests of suites share.

use crdx_text::yaml;
use crdx_value::Value;

/// The CRD of kites with a schema in YAML, whose lines are indented by eight spaces or more.
pub fn kites(schema: &str) -> Value {
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: kites.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: kites, kind: Kite}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
{schema}"
    );
    yaml::read(crd.as_bytes()).unwrap()
}
