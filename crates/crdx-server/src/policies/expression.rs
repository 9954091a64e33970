//! Compiles one expression (`compiler.CompileCELExpression`, `admission/plugin/cel/compile.go`).

use crdx_cel::{ast::CheckedAst, env::Env, eval::Program, types::Type};

/// The reason why an expression does not compile, with the server's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The expression is invalid (`ErrorTypeInvalid`).
    #[error("{0}")]
    Invalid(String),
    /// The expression is valid but cannot be planned (`ErrorTypeInternal`).
    #[error("{0}")]
    Internal(String),
}

/// Compiles an expression whose type must be one of `types`; an empty list allows any type.
///
/// # Errors
/// Returns an error if the expression does not parse, has another type, or cannot be planned.
pub fn compile(source: &str, env: &Env, types: &[Type]) -> Result<(Program, CheckedAst), CompileError> {
    let invalid = CompileError::Invalid;
    let checked = env.compile(source).map_err(|issues| invalid(format!("compilation failed: {}", issues.display())))?;
    let found = checked.result_type();
    match types {
        [] => {}
        _ if types.contains(found) => {}
        [wanted] => return Err(invalid(format!("must evaluate to {wanted} but got {found}"))),
        expected => {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            return Err(invalid(format!("must evaluate to one of [{}] but got {found}", expected.join(" "))));
        }
    }
    let failed = |error| CompileError::Internal(format!("program instantiation failed: {error}"));
    let program = Program::plan(&checked, env).map_err(failed)?;
    Ok((program, checked))
}
