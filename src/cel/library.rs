//! The functions an expression may call: one file per library, one [`Overload`] per line of its table.
//!
//! Each overload carries all that is known about it: its signature (read by the checker), the first Kubernetes version whose new
//! expressions may use it, its price (read by the static estimate and by the run-time cost alike) and how it is computed.
//! Ids are those of cel-go, because error texts, recorded facts and costs name them.

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
use crate::release::Minor;

pub use comprehensions::insert;
pub use conversion::is_conversion;
pub use regex::{all_matches, first_match};

/// Computes a call. The receiver of a member call is the first argument; no argument is an error.
pub type Function = for<'a> fn(&[Value<'a>]) -> Result<Value<'a>, Error>;

/// A [`Function`] that visits more values than its price accounts for.
pub type FueledFunction = for<'a> fn(&[Value<'a>], &Fuel) -> Result<Value<'a>, Error>;

/// The implementation of an overload.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// The price accounts for the whole computation.
    Plain(Function),
    /// The computation also needs fuel.
    Fueled(FueledFunction),
}

impl Call {
    /// Computes the call.
    ///
    /// # Errors
    /// The error of the expression, or [`Error::Interrupted`] without fuel.
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
    /// The function's name; operators under cel-go's (`_+_`, `@in`), namespaced functions in full (`sets.contains`).
    pub function: &'static str,
    /// cel-go's overload id.
    pub id: &'static str,
    /// Called as `receiver.function(…)`.
    pub member: bool,
    /// `(list(T), T) -> int`: the receiver comes first, one capital letter is a type parameter. The names are `dyn`, `bool`, `int`,
    /// `uint`, `double`, `string`, `bytes`, `timestamp`, `duration`, `list(..)`, `map(.., ..)`, `optional(..)`, `type(..)`; any
    /// name with a dot is an opaque type.
    pub signature: &'static str,
    /// The first minor version whose new-expression environment has it.
    pub introduced: Minor,
    /// The servers that have this row: from the first version on, before the second. Rows of one id whose servers do not
    /// overlap are the same overload, computed or priced differently.
    pub servers: (Minor, Minor),
    /// The cost of a call.
    pub price: Price,
    /// The implementation; `None` for what the evaluator does itself (operators that do not evaluate all their arguments,
    /// equality, indexing, patterns).
    pub call: Option<Call>,
    /// The arguments are of the types of the signature by the time of the call. Operators see to that themselves: their error texts
    /// differ.
    pub guarded: bool,
}

impl Overload {
    /// An operator the evaluator computes itself.
    pub const fn planned(function: &'static str, id: &'static str, signature: &'static str, price: Price) -> Self {
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

    /// A function or operator of every release.
    pub const fn global(
        function: &'static str,
        id: &'static str,
        signature: &'static str,
        price: Price,
        call: Function,
    ) -> Self {
        Self { call: Some(Call::Plain(call)), guarded: true, ..Self::planned(function, id, signature, price) }
    }

    /// A member function of every release.
    pub const fn member(
        function: &'static str,
        id: &'static str,
        signature: &'static str,
        price: Price,
        call: Function,
    ) -> Self {
        Self { member: true, ..Self::global(function, id, signature, price, call) }
    }

    /// The same overload with an implementation that needs fuel.
    pub const fn fueled(mut self, call: FueledFunction) -> Self {
        self.call = Some(Call::Fueled(call));
        self.guarded = true;
        self
    }

    /// The same overload, introduced to new expressions by `minor`.
    pub const fn since(mut self, minor: Minor) -> Self {
        self.introduced = minor;
        self
    }

    /// The same overload, as the servers of `minor` and later have it.
    pub const fn from_server(mut self, minor: Minor) -> Self {
        self.servers.0 = minor;
        self
    }

    /// The same overload, as the servers before `minor` have it.
    pub const fn until_server(mut self, minor: Minor) -> Self {
        self.servers.1 = minor;
        self
    }

    /// Whether a server of version `server` lets expressions limited to `version` use this row.
    pub fn is_of(&self, server: Minor, version: Minor) -> bool {
        self.introduced <= version && self.servers.0 <= server && server < self.servers.1
    }

    /// The same overload, called with arguments of any type.
    pub const fn unguarded(mut self) -> Self {
        self.guarded = false;
        self
    }

    /// The same overload as a member function.
    pub const fn as_member(mut self) -> Self {
        self.member = true;
        self
    }
}

/// The cost of a call, at run time from the sizes of its arguments and result, and (as an interval) when estimated.
///
/// `size` is the number of code points, bytes, elements or entries, 1 for what has none. Factors are cel-go's: reading text costs a
/// tenth per code point, a regular expression a quarter per code point of its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// 1.
    One,
    /// Logic and choice: nothing but their operands.
    Free,
    /// Reading one argument: ceil(size / 10).
    Scan(u8),
    /// `startsWith` and `endsWith` before cel-go 0.29: as `Scan(0)`, but estimated as `Scan(1)`.
    Affix,
    /// Reading argument 0 into a result of the same size: ceil(size / 10).
    Transform,
    /// Reading argument 0 twice: ceil(size / 5).
    ScanTwice,
    /// `replace`: reading argument 0 and writing the result, ceil(size / 5).
    Replace,
    /// `split`: the same.
    Split,
    /// `join`: ceil(size of the result / 5).
    Join,
    /// `in` a list: the number of elements of argument 1.
    Search,
    /// Comparing text, and equality: ceil(smaller size / 10). Kubernetes types cost 1.
    Compare,
    /// Joining two texts: ceil((size + size) / 10).
    Concatenate,
    /// `contains`: ceil(size / 10) of the one times that of the other.
    Contains,
    /// `matches`: ceil((size + 1) / 10) * ceil(size of the pattern / 4).
    Match,
    /// `find`, `findAll`: the same, but estimated with the size of the result.
    Find,
    /// Visiting every leaf of argument 0: bytes / 10 for text, 1 for anything else that has no parts (Kubernetes lists, `indexOf`).
    Walk,
    /// `containsIP`, comparing addresses; `parse` adds reading argument 1.
    ContainsIp {
        /// Argument 1 is a string.
        parse: bool,
    },
    /// `containsCIDR`, the same and masking.
    ContainsCidr {
        /// Argument 1 is a string.
        parse: bool,
    },
    /// `format.validate`: as `Match`, with the longest pattern of the format.
    Validate,
    /// `sets.*`: 1 + product of the sizes * factor.
    Sets(u8),
    /// `slice`: 11 + size of the result.
    Slice,
    /// `lists.range`: 11 + size of the result.
    Range,
    /// `reverse`: 11 + size of the result.
    Reverse,
    /// `flatten`: 11 + size of argument 0 * depth.
    Flatten,
    /// `distinct`: 11 + size of argument 0 squared * 2 (2.1 for text).
    Distinct,
    /// `sort` by the argument: 11 + its size squared * 2 (2.1 for text).
    Sort(u8),
    /// `authorizer` checks: 350,000. No value to call them on exists for a CRD.
    Authorize,
    /// A label or field selector: 10 + ceil(size / 10) + ceil(size / 2) * 50. As above.
    Selector,
}

/// Every overload there is, library by library. What of it an expression may use depends on the version ([`Overload::introduced`]).
pub fn overloads() -> impl Iterator<Item = &'static Overload> {
    LIBRARIES.iter().flat_map(|library| library.iter())
}

/// The overloads that only expressions of JSON patches may use.
pub fn patch_overloads() -> impl Iterator<Item = &'static Overload> {
    json_patch::FUNCTIONS.iter()
}

/// The newest overload with cel-go's id `id`.
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
    clock::UNCHECKED,
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

/// The error of an operator for an operand of an unsupported type. In cel-go, strings and times report it themselves, without the function's name.
fn unknown_operand(function: &str, operand: &Value<'_>) -> Error {
    match operand {
        Value::String(_) | Value::Timestamp(_) | Value::Duration(_) => Error::no_such_overload(),
        _ => Error::new(format!("no such overload: {function}")),
    }
}
