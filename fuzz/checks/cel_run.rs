//! The cost of any expression that type-checks can be estimated, and the expression can be planned and run within the
//! limit.
use crdx_cel::{
    cost::estimate,
    env::{BaseEnv, Env},
    eval::{PER_CALL_LIMIT, Program},
    types::Type,
    value::Value,
};
use crdx_value::release::Release;

pub fn check(input: &[u8]) {
    let Ok(source) = std::str::from_utf8(input) else { return };
    let env = Env::new(BaseEnv::for_stored(Release::NEWEST))
        .with_variable("self", Type::list(Type::String))
        .with_variable("other", Type::Dyn);
    let Ok(checked) = env.compile(source) else { return };
    let cost = estimate(&checked, None);
    assert!(cost.min <= cost.max);
    if let Ok(program) = Program::plan(&checked, &env) {
        let words = Value::list(vec![Value::string("a"), Value::string("é")]);
        program.run(&[Ok(words), Ok(Value::Int(1))], PER_CALL_LIMIT, &crdx_value::steps::Steps::of_request());
    }
}
