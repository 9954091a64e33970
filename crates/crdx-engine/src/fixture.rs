//! The CRD that unit tests share.

use crdx_text::yaml;
use crdx_value::Value;

/// The CRD of kites, whose schema is indented by eight spaces or more.
pub fn kites_yaml(schema: &str) -> String {
    format!(
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
    )
}

/// The value of [`kites_yaml`].
pub fn kites(schema: &str) -> Value {
    yaml::read(kites_yaml(schema).as_bytes()).unwrap()
}
