//! Compiling one expression (`compiler.CompileCELExpression`, `admission/plugin/cel/compile.go`).

use crate::cel::{ast::CheckedAst, env::Env, eval::Program, types::Type};
use std::fmt;

/// Why an expression does not compile, in the server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// A wrong expression (`ErrorTypeInvalid`).
    Invalid(String),
    /// A correct expression that cannot be run (`ErrorTypeInternal`).
    Internal(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text) | Self::Internal(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiles an expression whose type must be one of `types`; no types allow any.
///
/// # Errors
/// The expression does not parse or check, is of another type, or cannot be planned.
pub fn compile(source: &str, env: &Env, types: &[Type]) -> Result<(Program, CheckedAst), CompileError> {
    let invalid = CompileError::Invalid;
    let checked = env.compile(source).map_err(|issues| invalid(format!("compilation failed: {}", issues.display())))?;
    let found = checked.result_type();
    match types {
        [] => {}
        _ if types.contains(found) => {}
        [wanted] => return Err(invalid(format!("must evaluate to {wanted} but got {found}"))),
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            return Err(invalid(format!("must evaluate to one of [{}] but got {found}", several.join(" "))));
        }
    }
    let failed = |error| CompileError::Internal(format!("program instantiation failed: {error}"));
    let program = Program::plan(&checked, env).map_err(failed)?;
    Ok((program, checked))
}
