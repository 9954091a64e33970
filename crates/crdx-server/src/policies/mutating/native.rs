//! Converts CEL values to the Go values and JSON of patches (`cel/mutation/dynamic`, `structpb`).

use crdx_cel::value::{List, Message, Opaque, Value as CelValue};
use crdx_value::base64::Encoding;
use crdx_value::sort::sort_by;
use crdx_value::steps::{Spent, Steps, memory};
use crdx_value::{Map, Value, quote};

/// The steps for a value. Here a step is a byte of memory: lists and maps may share elements, and JSON does not.
const NODE: u64 = 64;

/// The reason why a value cannot be converted.
#[derive(Debug)]
pub(crate) enum NativeError {
    /// The value has no JSON form; the server's message.
    Failed(String),
    /// The value is too large.
    Spent(Spent),
}

impl NativeError {
    /// Adds text to the message.
    pub fn within(self, text: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Failed(message) => Self::Failed(text(message)),
            Self::Spent(spent) => Self::Spent(spent),
        }
    }
}

impl From<String> for NativeError {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<Spent> for NativeError {
    fn from(spent: Spent) -> Self {
        Self::Spent(spent)
    }
}

/// A Go value without a JSON form inside an apply configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NativeValue {
    /// The keys and indices on the path to the value.
    pub path: Vec<NativeStep>,
    /// `%v` of the value.
    pub printed: String,
    /// `%#v` of the value.
    pub go_syntax: String,
    /// `%T` of the value.
    pub go_type: &'static str,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NativeStep {
    /// A member of an object.
    Key(String),
    /// An item of a list.
    Index(usize),
}

/// Converts the object of an apply configuration (`ObjectVal.ConvertToNative`). Values without a JSON form become null
/// and are added to `native_values`.
///
/// # Errors
/// Returns an error for a map key that is not a string.
pub fn object(message: &Message<'_>, native_values: &mut Vec<NativeValue>, steps: &Steps) -> Result<Map, NativeError> {
    Conversion { path: Vec::new(), native_values, steps }.members(message)
}

/// The conversion of one object.
struct Conversion<'c> {
    path: Vec<NativeStep>,
    native_values: &'c mut Vec<NativeValue>,
    steps: &'c Steps,
}

impl Conversion<'_> {
    fn members(&mut self, message: &Message<'_>) -> Result<Map, NativeError> {
        let mut out = Map::new();
        for (name, value) in &message.fields {
            self.path.push(NativeStep::Key(name.to_string()));
            let converted = self.field(value).map_err(|error| {
                error.within(|error| format!("fail to convert field {}: {error}", quote::go_quote(name)))
            })?;
            self.path.pop();
            out.insert(name.to_string(), converted);
        }
        Ok(out)
    }

    /// `convertField`
    fn field(&mut self, value: &CelValue<'_>) -> Result<Value, NativeError> {
        match value {
            CelValue::Optional(Some(inner)) => self.field(inner),
            // The items of a list created by an expression become their Go values; other lists are converted recursively.
            CelValue::List(list) => {
                self.steps.take(NODE)?;
                let shallow = matches!(list, List::Shared(_) | List::Constant(_));
                let mut out = Vec::new();
                for (index, item) in list.iter().enumerate() {
                    let item = item.map_err(|error| error.to_string())?;
                    self.path.push(NativeStep::Index(index));
                    out.push(if shallow { self.raw(&item)? } else { self.field(&item)? });
                    self.path.pop();
                }
                Ok(Value::Array(out))
            }
            CelValue::Map(map) => {
                self.steps.take(NODE)?;
                let shallow = matches!(map, crdx_cel::value::Map::Shared(_) | crdx_cel::value::Map::Constant(_));
                let mut out = Map::new();
                for (key, value) in map.entries().map_err(|error| error.to_string())? {
                    let CelValue::String(key) = &key else {
                        let (printed, type_) = (quoted(&key), go_type(&key));
                        return Err(format!("map key {printed} is of type {type_}, not string").into());
                    };
                    self.path.push(NativeStep::Key(key.to_string()));
                    let value = if shallow { self.raw(&value)? } else { self.field(&value)? };
                    self.path.pop();
                    out.insert(key.to_string(), value);
                }
                Ok(Value::Object(out))
            }
            other => self.raw(other),
        }
    }

    /// `Value()` of a value: lists and maps created by an expression remain Go values.
    fn raw(&mut self, value: &CelValue<'_>) -> Result<Value, NativeError> {
        self.steps.take(NODE)?;
        let (printed, go_syntax, go_type) = match value {
            CelValue::Bool(b) => return Ok(Value::Bool(*b)),
            CelValue::Int(i) => return Ok(Value::Int(*i)),
            CelValue::Double(d) => return Ok(Value::Float(*d)),
            CelValue::String(s) => {
                self.steps.take(s.len() as u64)?;
                return Ok(Value::from(&**s));
            }
            CelValue::Type(name) => return Ok(Value::from(name.as_ref())),
            CelValue::Optional(Some(inner)) => return self.raw(inner),
            CelValue::Optional(None) => return Ok(Value::Null),
            CelValue::Message(message) => return self.members(message).map(Value::Object),
            CelValue::List(List::Untyped(items)) => {
                for item in *items {
                    self.steps.take(memory(item) as u64)?;
                }
                return Ok(Value::Array(items.to_vec()));
            }
            CelValue::Map(crdx_cel::value::Map::Untyped(members)) => {
                for item in members.values() {
                    self.steps.take(memory(item) as u64)?;
                }
                return Ok(Value::Object((*members).clone()));
            }
            CelValue::List(list) if matches!(list, List::Joined(_)) => {
                // Concatenated lists are flattened.
                let mut out = Vec::new();
                for (index, item) in list.iter().enumerate() {
                    self.path.push(NativeStep::Index(index));
                    out.push(self.raw(&item.map_err(|error| error.to_string())?)?);
                    self.path.pop();
                }
                return Ok(Value::Array(out));
            }
            CelValue::Null => ("NULL_VALUE".to_owned(), "0".to_owned(), "structpb.NullValue"),
            CelValue::Uint(u) => (u.to_string(), format!("{u:#x}"), "uint64"),
            CelValue::Bytes(bytes) => {
                self.steps.take(12 * bytes.len() as u64)?;
                let printed: Vec<String> = bytes.iter().map(u8::to_string).collect();
                let go_syntax: Vec<String> = bytes.iter().map(|b| format!("{b:#x}")).collect();
                (format!("[{}]", printed.join(" ")), format!("[]uint8{{{}}}", go_syntax.join(", ")), "[]uint8")
            }
            CelValue::Timestamp(time) => (time.to_utc_text(), go_time(&time.to_utc_text()), "time.Time"),
            CelValue::Duration(duration) => (duration.to_go_text(), duration.0.to_string(), "time.Duration"),
            CelValue::List(list) => {
                let (mut plain, mut go_syntax) = (Vec::new(), Vec::new());
                for item in list.iter().flatten() {
                    plain.push(self.counted(item.plain())?);
                    go_syntax.push(self.counted(go_syntax_of(&item))?);
                }
                let (plain, go_syntax) = (plain.join(" "), go_syntax.join(", "));
                (format!("[{plain}]"), format!("[]ref.Val{{{go_syntax}}}"), "[]ref.Val")
            }
            CelValue::Map(map) => {
                let mut entries = Vec::new();
                for (key, value) in map.entries().unwrap_or_default() {
                    let plain = self.counted(format!("{}:{}", key.plain(), value.plain()))?;
                    let go_syntax = self.counted(format!("{}:{}", go_syntax_of(&key), go_syntax_of(&value)))?;
                    entries.push((key.plain(), plain, go_syntax));
                }
                sort_by(&mut entries, |(a, ..), (b, ..)| a.cmp(b));
                let plain: Vec<&str> = entries.iter().map(|(_, plain, _)| plain.as_str()).collect();
                let go_syntax: Vec<&str> = entries.iter().map(|(.., go_syntax)| go_syntax.as_str()).collect();
                let (plain, go_syntax) = (plain.join(" "), go_syntax.join(", "));
                (format!("map[{plain}]"), format!("map[ref.Val]ref.Val{{{go_syntax}}}"), "map[ref.Val]ref.Val")
            }
            other => (other.plain(), other.plain(), "*types.Err"),
        };
        self.steps.take(NODE * self.path.len() as u64)?;
        self.native_values.push(NativeValue { path: self.path.clone(), printed, go_syntax, go_type });
        Ok(Value::Null)
    }

    /// Takes the steps for a text of values, whose length [`CelValue::plain`] limits.
    fn counted(&self, text: String) -> Result<String, Spent> {
        self.steps.take(NODE + text.len() as u64)?;
        Ok(text)
    }
}

/// `%#v` of a scalar.
fn go_syntax_of(value: &CelValue<'_>) -> String {
    match value {
        CelValue::String(text) => quote::go_quote(text),
        other => other.plain(),
    }
}

/// `%#v` of a time, given as text in UTC.
fn go_time(text: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let numbers: Vec<u64> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let fraction = text.split_once('.').map(|(_, rest)| rest.trim_end_matches('Z')).unwrap_or_default();
    let nanos: u64 = format!("{fraction:0<9}").parse().unwrap_or_default();
    match *numbers.as_slice() {
        [year, month, day, hour, minute, second, ..] => {
            let month = usize::try_from(month).ok().and_then(|m| MONTHS.get(m.checked_sub(1)?)).unwrap_or(&"January");
            format!("time.Date({year}, time.{month}, {day}, {hour}, {minute}, {second}, {nanos}, time.UTC)")
        }
        _ => text.to_owned(),
    }
}

fn quoted(key: &CelValue<'_>) -> String {
    match key {
        CelValue::Int(i) => char::from_u32(u32::try_from(*i).unwrap_or(u32::MAX))
            .map_or_else(|| format!("'{}'", char::REPLACEMENT_CHARACTER), |c| format!("'{c}'")),
        other => quote::go_quote(&other.plain()),
    }
}

fn go_type(value: &CelValue<'_>) -> &'static str {
    match value {
        CelValue::Bool(_) => "types.Bool",
        CelValue::Int(_) => "types.Int",
        CelValue::Uint(_) => "types.Uint",
        CelValue::Double(_) => "types.Double",
        _ => "ref.Val",
    }
}

/// Converts the value of a JSON patch operation (`ConvertToNative` to `structpb.Value`, then to JSON).
///
/// # Errors
/// Returns the server's message for a value without a JSON form.
pub fn json(value: &CelValue<'_>, steps: &Steps) -> Result<Value, NativeError> {
    steps.take(NODE)?;
    match value {
        CelValue::Null => Ok(Value::Null),
        CelValue::Bool(b) => Ok(Value::Bool(*b)),
        CelValue::Int(i) => Ok(if i.unsigned_abs() <= SAFE { Value::Int(*i) } else { Value::from(i.to_string()) }),
        CelValue::Uint(u) => {
            let small = i64::try_from(*u).ok().filter(|_| *u <= SAFE);
            Ok(small.map_or_else(|| Value::from(u.to_string()), Value::Int))
        }
        CelValue::Double(d) => Ok(double(*d)),
        CelValue::String(s) => {
            steps.take(s.len() as u64)?;
            Ok(Value::from(&**s))
        }
        CelValue::Bytes(bytes) => {
            steps.take(2 * bytes.len() as u64)?;
            Ok(Value::from(Encoding::Standard.encode(bytes)))
        }
        CelValue::Timestamp(time) => Ok(Value::from(time.to_text())),
        CelValue::Duration(duration) => Ok(Value::from(duration.to_text())),
        CelValue::List(list) => {
            let items = list.iter().map(|item| json(&item.map_err(|error| error.to_string())?, steps));
            Ok(Value::Array(items.collect::<Result<_, NativeError>>()?))
        }
        CelValue::Map(map) => {
            let mut out = Map::new();
            for (key, value) in map.entries().map_err(|error| error.to_string())? {
                let CelValue::String(key) = &key else { return Err(wrong_key(&key).into()) };
                steps.take(key.len() as u64)?;
                out.insert(key.to_string(), json(&value, steps)?);
            }
            Ok(Value::Object(out))
        }
        CelValue::Optional(Some(inner)) => json(inner, steps),
        CelValue::Optional(None) => Err("optional.none() dereference".to_owned().into()),
        CelValue::Message(message) if message.is_object() => {
            let mut native_values = Vec::new();
            let members = object(message, &mut native_values, steps)?;
            match native_values.first() {
                None => Ok(through_doubles(Value::Object(members))),
                Some(_) => Err("proto: invalid type: structpb.NullValue".to_owned().into()),
            }
        }
        CelValue::Message(_) => Err("cannot convert to native type: *structpb.Value".to_owned().into()),
        CelValue::Type(_) => Err("type conversion not supported for 'type'".to_owned().into()),
        CelValue::Opaque(o) => Err(NativeError::Failed(match &**o {
            Opaque::Quantity { .. } => unconverted("Quantity"),
            Opaque::Url(_) => unconverted("URL"),
            Opaque::Ip(_) => unconverted("IP"),
            Opaque::Cidr(_) => unconverted("CIDR"),
            Opaque::Semver(_) => unconverted("Semver"),
            Opaque::Format(_) => unconverted("Format"),
            other => unconverted(other.type_name()),
        })),
    }
}

fn unconverted(type_: &str) -> String {
    format!("type conversion error from '{type_}' to '*structpb.Value'")
}

fn wrong_key(key: &CelValue<'_>) -> String {
    match key {
        CelValue::Int(_) => "unsupported type conversion from 'int' to string".to_owned(),
        CelValue::Uint(_) => "unsupported type conversion from 'uint' to string".to_owned(),
        CelValue::Double(_) => "type conversion error from Double to 'string'".to_owned(),
        CelValue::Bool(_) => "type conversion error from bool to 'string'".to_owned(),
        CelValue::Bytes(_) => "type conversion error from Bytes to 'string'".to_owned(),
        other => format!("type conversion error from '{}' to 'string'", other.type_name()),
    }
}

/// The largest integer that a JSON number represents exactly.
const SAFE: u64 = (1 << 53) - 1;

/// Returns a double after encoding and decoding as JSON: an integral one becomes an integer.
fn double(d: f64) -> Value {
    if d.is_nan() {
        return Value::from("NaN");
    }
    if d.is_infinite() {
        return Value::from(if d > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let whole = (d.fract() == 0.0 && d.abs() < 1e21).then_some(d as i64).filter(|i| *i as f64 == d && *i != i64::MAX);
    whole.map_or(Value::Float(d), Value::Int)
}

/// Converts the numbers of an object to doubles.
fn through_doubles(value: Value) -> Value {
    match value {
        Value::Int(i) => double(i as f64),
        Value::Float(f) => double(f),
        Value::Array(items) => Value::Array(items.into_iter().map(through_doubles).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(key, value)| (key, through_doubles(value))).collect())
        }
        other => other,
    }
}
