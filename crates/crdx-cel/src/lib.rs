//! The Common Expression Language as used by Kubernetes (cel-go 0.29 and `k8s.io/apiserver/pkg/cel`). This module is
//! independent of CRDs.
//!
//! ```text
//! source -> syntax (lexer, parser, macros) -> ast -> check (types, overloads, validators)
//!        -> cost (estimate) -> eval (plan, run, runtime cost)
//! env: variables, declared types, and the libraries of a Kubernetes version
//! ```

pub mod ast;
pub mod check;
pub mod cost;
pub mod decl;
pub mod env;
pub mod eval;
pub mod issues;
pub mod library;
pub mod syntax;
pub mod types;
pub mod value;
