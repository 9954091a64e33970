#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
//!
//! # Modules
//! The types for other programs are at the top of the crate. The modules are the stages, which the crates of kubectl-crdx use
//! one by one; their interfaces may change in every minor version.
//!
//! ```text
//! source -> syntax (lexer, parser, macros) -> ast -> check (types, overloads, validators)
//!        -> cost (estimate) -> eval (plan, run, runtime cost)
//! env: variables, declared types, and the libraries of a Kubernetes version
//! expression: all of this for one expression
//! ```

pub mod ast;
pub mod check;
pub mod cost;
pub mod decl;
pub mod env;
pub mod eval;
mod expression;
pub mod issues;
pub mod library;
pub mod syntax;
pub mod types;
pub mod value;

pub use cost::Interval;
pub use crdx_value::Value as Json;
pub use crdx_value::release::Release;
pub use decl::{DeclField, DeclType};
pub use eval::{Outcome, PER_CALL_LIMIT};
pub use expression::{CompileError, Environment, Expression, MAX_DEPTH};
pub use issues::{Issue, Issues, Location};
pub use types::Type;
pub use value::{Error, Value};
