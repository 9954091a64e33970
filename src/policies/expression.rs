//! Compiling one expression (`compiler.CompileCELExpression`, `admission/plugin/cel/compile.go`).

use crate::cel::{ast::CheckedAst, env::Env, eval::Program, types::Type};

/// Why an expression does not compile, in the server's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A wrong expression (`ErrorTypeInvalid`).
    #[error("{0}")]
    Invalid(String),
    /// A correct expression that cannot be run (`ErrorTypeInternal`).
    #[error("{0}")]
    Internal(String),
}

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
