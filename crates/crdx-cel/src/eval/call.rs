//! Resolves the function of a call.

use super::guard::admits;
use crate::{
    library::{CallCost, Overload},
    types::Type,
    value::{Error, Fuel, Value},
};
use crdx_value::release::{Minor, V1_31};

/// The function of a call with its overloads.
#[derive(Debug)]
pub(super) struct Callee {
    pub function: &'static str,
    /// The single overload that the checker chose, or all overloads of the function if the argument types are known
    /// only at run time.
    pub overloads: Vec<Resolved>,
}

/// Takes the steps for reading the texts of a call once: the prices of some functions do not depend on them.
fn scan(args: &[Value<'_>], fuel: &Fuel) -> Result<(), Error> {
    for arg in args {
        if let Value::String(text) = arg {
            fuel.scan(text.len())?;
        }
    }
    Ok(())
}

#[derive(Debug)]
pub(super) struct Resolved {
    pub overload: &'static Overload,
    pub params: Vec<Type>,
}

impl Callee {
    /// The overload, if there is only one.
    pub fn single(&self) -> Option<&'static Overload> {
        match &*self.overloads {
            [only] => Some(only.overload),
            _ => None,
        }
    }

    /// The price of a call. If the overload is unknown, the server determines the cost by the name of the function,
    /// which it does only for Kubernetes' functions.
    pub fn price(&self) -> CallCost {
        if let Some(overload) = self.single() {
            return overload.price;
        }
        match self.overloads.first().map(|resolved| resolved.overload.price) {
            Some(
                price @ (CallCost::Walk
                | CallCost::Transform
                | CallCost::ScanTwice
                | CallCost::Replace
                | CallCost::Split
                | CallCost::Join
                | CallCost::Find
                | CallCost::Validate
                | CallCost::Authorize
                | CallCost::Selector),
            ) => price,
            Some(CallCost::ContainsIp { .. }) => CallCost::ContainsIp { parse: false },
            Some(CallCost::ContainsCidr { .. }) => CallCost::ContainsCidr { parse: false },
            _ => CallCost::One,
        }
    }

    /// Returns true if the overload is chosen at run time by the argument types.
    pub(crate) fn dispatches(&self) -> bool {
        self.overloads.len() > 1 && self.overloads.iter().all(|resolved| resolved.overload.guarded)
    }

    /// Calls the overload that matches the arguments.
    pub fn invoke<'a>(&self, args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
        for Resolved { overload, params } in &self.overloads {
            let Some(call) = overload.call else { continue };
            let fits = || params.len() == args.len() && params.iter().zip(args).all(|(param, arg)| admits(param, arg));
            if !overload.guarded || fits() {
                scan(args, fuel)?;
                return call.compute(args, fuel);
            }
        }
        let types: Vec<_> = args.iter().map(|arg| type_name(arg, fuel.server())).collect();
        Err(Error::new(format!("no such overload: {}({})", self.function, types.join(", "))))
    }
}

/// The name of a value's type in the errors of a release.
fn type_name<'v>(value: &'v Value<'_>, server: Minor) -> &'v str {
    match value {
        Value::Optional(_) if server < V1_31 => "optional",
        _ => value.type_name(),
    }
}
