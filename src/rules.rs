//! `x-kubernetes-validations`: the one bridge between schemas and CEL (`apiextensions-apiserver/pkg/apiserver/schema/cel`).

pub mod decl;
pub mod escape;
