//! Compiles one expression (`compiler.CompileCELExpression`, `admission/plugin/cel/compile.go`).

use crdx_cel::{ast::CheckedAst, env::Env, eval::Program, types::Type};
use crdx_value::release::V1_32;

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
    // Before 1.32, the type of the expression is not shown.
    let but_got = if env.base.server < V1_32 { String::new() } else { format!(" but got {found}") };
    match types {
        [] => {}
        _ if types.contains(found) => {}
        [wanted] => return Err(invalid(format!("must evaluate to {wanted}{but_got}"))),
        expected => {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            return Err(invalid(format!("must evaluate to one of [{}]{but_got}", expected.join(" "))));
        }
    }
    let failed = |error| CompileError::Internal(format!("program instantiation failed: {error}"));
    let program = Program::plan(&checked, env).map_err(failed)?;
    Ok((program, checked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_cel::env::BaseEnv;

    #[test]
    fn the_type_of_an_expression_is_shown_since_1_32() {
        let error = |types: &[Type], release: &str| {
            let env = Env::new(BaseEnv::for_stored(release.parse().unwrap()));
            compile("1", &env, types).unwrap_err().to_string()
        };
        assert_eq!(error(&[Type::Bool], "1.31"), "must evaluate to bool");
        assert_eq!(error(&[Type::Bool], "1.32"), "must evaluate to bool but got int");
        let texts = [Type::String, Type::Null];
        assert_eq!(error(&texts, "1.31"), "must evaluate to one of [string null_type]");
        assert_eq!(error(&texts, "1.32"), "must evaluate to one of [string null_type] but got int");
    }
}
