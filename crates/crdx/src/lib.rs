#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod api_server;

pub use api_server::{
    ApiServer, ApiServerBuilder, Cause, Cell, Collection, Defaulted, Error, FieldValidation, IntoManifest, List,
    MAX_DEPTH, Manifest, ManifestError, Mutated, ObjectRef, PatchType, Position, Pruned, RequestOptions, Response, Row,
    RuleCost, Status, SufficientLimit,
};
pub use crdx_value::Value;
pub use crdx_value::release::Release;
