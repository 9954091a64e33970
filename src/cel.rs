//! The Common Expression Language as Kubernetes runs it (cel-go 0.29 and `k8s.io/apiserver/pkg/cel`). Knows nothing of CRDs.
//!
//! ```text
//! source -> syntax (lexer, parser, macros) -> ast -> check (types, overloads, validators) -> cost (estimate) -> eval (plan, run, count cost)
//!                                                       ^ env: variables, declared types, library/* by version
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
