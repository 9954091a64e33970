//! Sizes of values, for `size()` and the runtime cost.

use super::{Fuel, Opaque, Value};

impl Value<'_> {
    /// The number of code points, bytes, elements or entries; `None` for a value without a size.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::String(s) => Some(s.size()),
            Self::Bytes(b) => Some(b.len() as u64),
            Self::List(l) => Some(l.len() as u64),
            Self::Map(m) => Some(m.len() as u64),
            Self::Opaque(o) => match &**o {
                Opaque::Ip(ip) => Some(ip.size()),
                Opaque::Cidr(cidr) => Some(cidr.size()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The cost of visiting the whole value (`traversalCost`): bytes / 10 for strings, 1 for any other leaf.
    pub(crate) fn walk_cost(&self, fuel: &Fuel) -> u64 {
        if fuel.visit().is_err() {
            return TOO_MUCH;
        }
        match self {
            Self::String(s) => (s.len() as f64 * 0.1) as u64,
            Self::Bytes(b) => (b.len() as f64 * 0.1) as u64,
            Self::List(l) => sum(l.iter().map(|item| item.map_or(1, |item| item.walk_cost(fuel)))),
            Self::Map(m) => sum(m.keys_of_loop().iter().map(|key| {
                let value = m.find(key).and_then(Result::ok);
                key.walk_cost(fuel) + value.map_or(1, |value| value.walk_cost(fuel))
            })),
            _ => 1,
        }
    }
}

/// Greater than any cost limit.
const TOO_MUCH: u64 = 1 << 60;

fn sum(costs: impl Iterator<Item = u64>) -> u64 {
    let mut total = 0_u64;
    for cost in costs {
        total = total.saturating_add(cost);
        if total >= TOO_MUCH {
            break;
        }
    }
    total
}
