//! A selector of devices, evaluated for a device of a `ResourceSlice`.

use super::args::{self, Environment};
use super::report::{CheckedExpression, CompileFailure, Invalid, Run};
use super::self_value::{self, InputError, SelfValue};
use super::{compile, finished, type_name, uses};
use crdx_builtin::device;
use crdx_cel::cost;
use crdx_cel::types::Type;
use crdx_server::rules::node;
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::steps::Steps;

/// Compiles the selector, and evaluates it if there is a device.
pub fn outcome(args: &args::Cel, release: Release) -> Result<Result<CheckedExpression, CompileFailure>, InputError> {
    args.policies.require(Environment::Device)?;
    let env = device::environment(release);
    let (ast, program) = match compile(&args.expression, &env) {
        Ok(compiled) => compiled,
        Err(failure) => return Ok(Err(failure)),
    };
    let slice = match self_value::read(args, release, uses(&["device"], &args.expression, &env.base))? {
        SelfValue::Nothing => None,
        SelfValue::Untyped { new, .. } | SelfValue::Typed { new, .. } => Some(new),
    };
    let steps = Steps::of_request();
    let run = match &slice {
        None if args.filename.is_none() && uses(&["device"], &args.expression, &env.base) => {
            Run::Missing("the expression reads a device; give a ResourceSlice with -f".to_owned())
        }
        None => finished(program.run(&[Ok(crdx_cel::value::Value::Null)], device::MAX_COST, &steps), &steps),
        Some(slice) => {
            let driver = slice.str_at(&["spec", "driver"]).unwrap_or_default();
            let value = device::value(driver, device_of(slice, args.at.as_deref())?, release);
            let value = value.map_err(|error| InputError::new(error.to_string()))?;
            finished(program.run(&[Ok(value)], device::MAX_COST, &steps), &steps)
        }
    };
    let cost = cost::estimate_with_sizes(&ast, &device::size_at);
    let valid = match ast.result_type() {
        Type::Bool | Type::Any if cost.max > device::MAX_COST => Err(Invalid::TooExpensive),
        Type::Bool | Type::Any => Ok(()),
        other => {
            let text = format!("must evaluate to bool or the unknown type, not {}", env.type_name(other));
            Err(Invalid::WrongType(text))
        }
    };
    let (type_, estimate) = (type_name(&ast), (cost.min, cost.max));
    Ok(Ok(CheckedExpression { type_, estimate, rule: None, valid, run, run_limit: device::MAX_COST }))
}

/// Returns the device at a path of a slice, or its only device.
fn device_of<'v>(slice: &'v Value, at: Option<&str>) -> Result<&'v Value, InputError> {
    if let Some(path) = at {
        let steps = node::steps(path).map_err(|error| InputError::new(error.to_string()))?;
        let found = steps.iter().try_fold(slice, |value, step| node::step(value, step));
        return found.ok_or_else(|| InputError::new(format!("the object has no value at {path}")));
    }
    match slice.at(&["spec", "devices"]).and_then(Value::as_array) {
        Some([device]) => Ok(device),
        None | Some([]) => Err(InputError::with_help("the object has no devices", "give a ResourceSlice with -f")),
        Some(devices) => Err(InputError::with_help(
            format!("the ResourceSlice has {} devices", devices.len()),
            "choose one with --at, for example --at spec.devices[0]",
        )),
    }
}
