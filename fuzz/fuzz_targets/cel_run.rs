//! The cost of any expression that type-checks can be estimated, and the expression can be planned and run within the
//! limit.
#![no_main]

use crdx::cel::{
    cost::estimate,
    env::{BaseEnv, Env},
    eval::{PER_CALL_LIMIT, Program},
    types::Type,
    value::Value,
};
use crdx::release::Release;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let env = Env::new(BaseEnv::for_stored(Release::NEWEST))
        .with_variable("self", Type::list(Type::String))
        .with_variable("other", Type::Dyn);
    let Ok(checked) = env.compile(source) else { return };
    let cost = estimate(&checked, None);
    assert!(cost.min <= cost.max);
    if let Ok(program) = Program::plan(&checked, &env) {
        let words = Value::list(vec![Value::string("a"), Value::string("é")]);
        program.run(&[Ok(words), Ok(Value::Int(1))], PER_CALL_LIMIT);
    }
});
