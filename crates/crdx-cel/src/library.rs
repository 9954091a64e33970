//! The functions that expressions may call in Kubernetes 1.30 to 1.38: one file per library, one [`Overload`] per row of its table.
//!
//! Each overload has its signature (used by the checker), the Kubernetes version since which new expressions may use
//! it, its price (used by both the static estimate and the runtime cost) and its implementation. Overload ids are
//! cel-go's, because error messages and costs refer to them.

mod arithmetic;
mod authorization;
mod cidr;
mod clock;
mod comparison;
mod comprehensions;
mod containers;
mod conversion;
mod extended_lists;
mod format;
mod format_string;
mod ip;
mod json_patch;
mod lists;
mod logic;
mod optionals;
mod positions;
mod quantity;
mod regex;
mod semver;
mod sets;
mod strings;
mod text;
mod urls;

use super::value::{Error, Fuel, Value};
use crdx_value::release::Minor;

pub use comprehensions::insert;
pub(crate) use comprehensions::insert_all;
pub(crate) use conversion::is_conversion;
pub use crdx_value::time_zone::check as check_time_zone;
pub(crate) use regex::{all_matches, first_match, spend_match};

/// The implementation of an overload. The receiver of a member call is the first argument; arguments are never errors.
pub type Function = for<'a> fn(&[Value<'a>]) -> Result<Value<'a>, Error>;

/// A [`Function`] that can visit more values than its cost accounts for.
pub type FueledFunction = for<'a> fn(&[Value<'a>], &Fuel) -> Result<Value<'a>, Error>;

/// The implementation of an overload.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// A function whose cost accounts for the whole computation.
    Plain(Function),
    /// A function that also consumes fuel.
    Fueled(FueledFunction),
}

impl Call {
    /// Computes the call.
    ///
    /// # Errors
    /// Returns the error of the call, or [`Error::Interrupted`] if no fuel is left.
    pub fn compute<'a>(self, args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
        match self {
            Self::Plain(function) => function(args),
            Self::Fueled(function) => function(args, fuel),
        }
    }
}

/// One overload of a function or operator.
#[derive(Clone, Copy, Debug)]
pub struct Overload {
    /// The name of the function; operators have cel-go's names (`_+_`, `@in`), namespaced functions are qualified
    /// (`sets.contains`).
    pub function: &'static str,
    /// cel-go's overload id.
    pub id: &'static str,
    /// True for a member function, called as `receiver.function(…)`.
    pub member: bool,
    /// The signature, such as `(list(T), T) -> int`. The receiver comes first, and a single capital letter is a type
    /// parameter. The type names are `dyn`, `bool`, `int`, `uint`, `double`, `string`, `bytes`, `timestamp`,
    /// `duration`, `list(..)`, `map(.., ..)`, `optional(..)` and `type(..)`; any name with a dot is an opaque type.
    pub signature: &'static str,
    /// The first compatibility version whose environment for new expressions has the overload.
    pub introduced: Minor,
    /// The server versions to which this row applies: from the first inclusive to the second exclusive. Rows with the
    /// same id and disjoint version ranges are the same overload with different implementations or prices.
    pub servers: (Minor, Minor),
    /// The cost of a call.
    pub price: CallCost,
    /// The implementation; `None` if the evaluator implements the overload (operators that do not evaluate all their
    /// arguments, equality, indexing, regular expressions).
    pub call: Option<Call>,
    /// True if argument types are checked against the signature before the call. Operators check their arguments
    /// themselves, because their error messages differ.
    pub guarded: bool,
}

impl Overload {
    /// An operator that the evaluator implements.
    pub const fn planned(function: &'static str, id: &'static str, signature: &'static str, price: CallCost) -> Self {
        Self {
            function,
            id,
            member: false,
            signature,
            introduced: Minor::ALWAYS,
            servers: (Minor::ALWAYS, Minor::NEVER),
            price,
            call: None,
            guarded: false,
        }
    }

    /// A global function or operator available in every release.
    pub const fn global(
        function: &'static str,
        id: &'static str,
        signature: &'static str,
        price: CallCost,
        call: Function,
    ) -> Self {
        Self { call: Some(Call::Plain(call)), guarded: true, ..Self::planned(function, id, signature, price) }
    }

    /// A member function available in every release.
    pub const fn member(
        function: &'static str,
        id: &'static str,
        signature: &'static str,
        price: CallCost,
        call: Function,
    ) -> Self {
        Self { member: true, ..Self::global(function, id, signature, price, call) }
    }

    /// An operator that compares two values and checks their types itself.
    pub(crate) const fn comparison(
        function: &'static str,
        id: &'static str,
        signature: &'static str,
        price: CallCost,
        call: FueledFunction,
    ) -> Self {
        Self { call: Some(Call::Fueled(call)), ..Self::planned(function, id, signature, price) }
    }

    /// Sets an implementation that needs fuel.
    pub(crate) const fn fueled(mut self, call: FueledFunction) -> Self {
        self.call = Some(Call::Fueled(call));
        self.guarded = true;
        self
    }

    /// Limits the overload to compatibility version `minor` and later.
    pub const fn since(mut self, minor: Minor) -> Self {
        self.introduced = minor;
        self
    }

    /// Limits the row to servers of version `minor` and later.
    pub const fn from_server(mut self, minor: Minor) -> Self {
        self.servers.0 = minor;
        self
    }

    /// Limits the row to servers before version `minor`.
    pub(crate) const fn until_server(mut self, minor: Minor) -> Self {
        self.servers.1 = minor;
        self
    }

    /// Returns true if this row applies on a server of version `server` to expressions with compatibility version
    /// `version`.
    pub fn is_of(&self, server: Minor, version: Minor) -> bool {
        self.introduced <= version && self.servers.0 <= server && server < self.servers.1
    }

    /// Disables the check of argument types.
    pub(crate) const fn unguarded(mut self) -> Self {
        self.guarded = false;
        self
    }

    /// Makes the overload a member function.
    pub(crate) const fn as_member(mut self) -> Self {
        self.member = true;
        self
    }
}

/// The cost of a call: at run time computed from the sizes of its arguments and result, in estimates as an interval.
///
/// `size` is the number of code points, bytes, elements or entries; values without a size have size 1. The factors are
/// cel-go's: 0.1 per code point for traversing a string, 0.25 per code point of a regular expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCost {
    /// 1
    One,
    /// 0: logic and conditional operators cost only their operands.
    Free,
    /// Traversing the argument with this index: ceil(size / 10).
    Scan(u8),
    /// `startsWith` and `endsWith` before cel-go 0.29: like `Scan(0)` at run time, but estimated like `Scan(1)`.
    Affix,
    /// A part of the URL in argument 0: 1. Since 1.38, the result is estimated to be as long as the URL, or at most `growth` times as long.
    UrlPart {
        /// The factor by which escaping can lengthen the part.
        growth: u8,
    },
    /// Traversing argument 0, with a result of the same size: ceil(size / 10).
    Transform,
    /// Traversing argument 0 twice: ceil(size / 5).
    ScanTwice,
    /// `replace`: traversing argument 0 and writing the result, ceil(size / 5).
    Replace,
    /// `split`: traversing argument 0 and writing the result, ceil(size / 5).
    Split,
    /// `join`: ceil(size of the result / 5).
    Join,
    /// `in` a list: the number of elements of argument 1.
    Search,
    /// Comparing strings, and equality: ceil(smaller size / 10). Kubernetes types cost 1.
    Compare,
    /// Concatenating two strings: ceil((size + size) / 10).
    Concatenate,
    /// `contains`: ceil(size / 10) of argument 0 times that of argument 1.
    Contains,
    /// `matches`: ceil((size + 1) / 10) * ceil(size of the pattern / 4).
    Match,
    /// `find`, `findAll`: like `Match`, but estimated with the size of the result.
    Find,
    /// Visiting every leaf of argument 0: bytes / 10 for strings, 1 for any other leaf (Kubernetes lists, `indexOf`).
    Walk,
    /// `containsIP`: comparing addresses; with `parse`, also traversing argument 1.
    ContainsIp {
        /// True if argument 1 is a string.
        parse: bool,
    },
    /// `containsCIDR`: like `ContainsIp`, plus masking.
    ContainsCidr {
        /// True if argument 1 is a string.
        parse: bool,
    },
    /// `format.validate`: like `Match`, with the longest pattern of the format.
    Validate,
    /// `sets.*`: 1 + product of the sizes * this factor.
    Sets(u8),
    /// `slice`: 11 + size of the result.
    Slice,
    /// `lists.range`: 11 + size of the result.
    Range,
    /// `reverse`: 11 + size of the result.
    Reverse,
    /// `flatten`: 11 + size of argument 0 * depth.
    Flatten,
    /// `distinct`: 11 + size of argument 0 squared * 2 (2.1 for strings and bytes).
    Distinct,
    /// `sort` by the argument with this index: 11 + its size squared * 2 (2.1 for strings and bytes).
    Sort(u8),
    /// `authorizer` checks: 350,000. CRD rules have no `authorizer` variable.
    Authorize,
    /// A label or field selector of an `authorizer` check: 10 + ceil(size / 10) + ceil(size / 2) * 50.
    Selector,
}

/// All overloads, library by library. Their availability depends on the version ([`Overload::introduced`]).
pub fn overloads() -> impl Iterator<Item = &'static Overload> {
    LIBRARIES.iter().flat_map(|library| library.iter())
}

/// The overloads available only to JSON patch expressions of mutating admission policies.
pub(crate) fn patch_overloads() -> impl Iterator<Item = &'static Overload> {
    json_patch::FUNCTIONS.iter()
}

/// The newest row of the overload with cel-go's id `id`.
pub fn overload(id: &str) -> Option<&'static Overload> {
    overloads().find(|overload| overload.id == id && overload.servers.1 == Minor::NEVER)
}

const LIBRARIES: &[&[Overload]] = &[
    logic::FUNCTIONS,
    arithmetic::FUNCTIONS,
    comparison::FUNCTIONS,
    containers::FUNCTIONS,
    conversion::FUNCTIONS,
    text::FUNCTIONS,
    clock::FUNCTIONS,
    strings::FUNCTIONS,
    positions::FUNCTIONS,
    regex::FUNCTIONS,
    lists::FUNCTIONS,
    extended_lists::FUNCTIONS,
    sets::FUNCTIONS,
    optionals::FUNCTIONS,
    comprehensions::FUNCTIONS,
    urls::FUNCTIONS,
    ip::FUNCTIONS,
    cidr::FUNCTIONS,
    quantity::FUNCTIONS,
    semver::FUNCTIONS,
    format::FUNCTIONS,
    authorization::FUNCTIONS,
];

/// The implementation that [`Overload::fueled`] replaces.
fn unfueled<'a>(_: &[Value<'a>]) -> Result<Value<'a>, Error> {
    Err(Error::no_such_overload())
}

/// The error of an operator for an operand of an unsupported type. In cel-go, strings and timestamps report this error
/// themselves, without the name of the function.
fn unknown_operand(function: &str, operand: &Value<'_>) -> Error {
    match operand {
        Value::String(_) | Value::Timestamp(_) | Value::Duration(_) => Error::no_such_overload(),
        _ => Error::new(format!("no such overload: {function}")),
    }
}
