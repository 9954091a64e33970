//! Which function a call runs.

use super::guard::admits;
use crate::cel::{
    library::{Overload, Price},
    types::Type,
    value::{Error, Fuel, Value},
};

/// The function that a call resolves to.
#[derive(Debug)]
pub(super) struct Callee {
    pub function: &'static str,
    /// The one overload the checker found, or all of the function's for values whose types show at run time.
    pub overloads: Vec<Resolved>,
}

#[derive(Debug)]
pub(super) struct Resolved {
    pub overload: &'static Overload,
    pub params: Vec<Type>,
}

impl Callee {
    /// The overload, if it is known.
    pub fn single(&self) -> Option<&'static Overload> {
        match &*self.overloads {
            [only] => Some(only.overload),
            _ => None,
        }
    }

    /// The price of a call. Without an overload the server falls back on the function's name, which only Kubernetes' functions have a
    /// price for.
    pub fn price(&self) -> Price {
        if let Some(overload) = self.single() {
            return overload.price;
        }
        match self.overloads.first().map(|resolved| resolved.overload.price) {
            Some(
                price @ (Price::Walk
                | Price::Transform
                | Price::ScanTwice
                | Price::Replace
                | Price::Split
                | Price::Join
                | Price::Find
                | Price::Validate
                | Price::Authorize
                | Price::Selector),
            ) => price,
            Some(Price::ContainsIp { .. }) => Price::ContainsIp { parse: false },
            Some(Price::ContainsCidr { .. }) => Price::ContainsCidr { parse: false },
            _ => Price::One,
        }
    }

    /// Whether the overload is chosen at run time, by the types of the arguments.
    pub fn dispatches(&self) -> bool {
        self.overloads.len() > 1 && self.overloads.iter().all(|resolved| resolved.overload.guarded)
    }

    /// Calls the overload the arguments fit.
    pub fn invoke<'a>(&self, args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
        for Resolved { overload, params } in &self.overloads {
            let Some(call) = overload.call else { continue };
            let fits = || params.len() == args.len() && params.iter().zip(args).all(|(param, arg)| admits(param, arg));
            if !overload.guarded || fits() {
                return call.compute(args, fuel);
            }
        }
        let types: Vec<_> = args.iter().map(Value::type_name).collect();
        Err(Error::new(format!("no such overload: {}({})", self.function, types.join(", "))))
    }
}
