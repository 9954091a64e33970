//! The published schema of a kind with all references resolved (`k8s.io/apiserver/pkg/cel/openapi/resolver`).

use super::{definitions, model_name};
use crate::crd::CustomResourceDefinition;
use crdx_types::openapi::{OpenApiVersion, resolve};
use crdx_value::Value;
use crdx_value::release::Release;

/// The OpenAPI v3 schema of a version's objects, with every reference replaced by the schema it refers to. A recursive
/// reference becomes an object without properties.
pub fn resolved(crd: &CustomResourceDefinition, version: &str, release: Release) -> Value {
    let schemas = definitions(crd, version, OpenApiVersion::V3, release);
    resolve(&schemas, &model_name(&crd.spec.group, version, &crd.spec.names.kind))
}
