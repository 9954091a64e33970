//! Formats values as CEL literals (`Display`), and like Go's `%v` in error messages ([`Value::plain`]).

use super::{Fuel, Value};
use crdx_value::{number::format_v, quote::go_quote};
use std::fmt::{self, Display, Write as _};

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Fuel::of_text())
    }
}

/// A value that is part of a text.
struct Written<'v, 'a>(&'v Value<'a>, &'v Fuel);

impl Display for Written<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}

impl Value<'_> {
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, fuel: &Fuel) -> fmt::Result {
        let text = match self {
            Self::String(s) => s.len(),
            Self::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        if fuel.spend(text + 1).is_err() {
            return f.write_char('…');
        }
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Uint(u) => write!(f, "{u}u"),
            Self::Double(d) => {
                let text = if d.is_finite() { format!("{d}") } else { format_v(*d) };
                f.write_str(&text)?;
                if d.is_finite() && !text.contains('.') { f.write_str(".0") } else { Ok(()) }
            }
            Self::String(s) => f.write_str(&go_quote(s)),
            Self::Bytes(bytes) => {
                f.write_str("b\"")?;
                for b in bytes.iter() {
                    write!(f, "\\x{b:02x}")?;
                }
                f.write_char('"')
            }
            Self::Timestamp(t) => write!(f, "timestamp(\"{}\")", t.to_utc_text()),
            Self::Duration(d) => write!(f, "duration(\"{}\")", d.to_go_text()),
            Self::List(list) => {
                f.write_char('[')?;
                for (i, item) in list.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    if fuel.is_empty() {
                        f.write_char('…')?;
                        break;
                    }
                    match item {
                        Ok(item) => item.write(f, fuel)?,
                        Err(error) => write!(f, "{error}")?,
                    }
                }
                f.write_char(']')
            }
            Self::Map(map) => {
                let mut entries: Vec<(String, String)> = map
                    .keys()
                    .iter()
                    .take_while(|_| !fuel.is_empty())
                    .map(|key| {
                        let value = match map.find(key) {
                            Some(Ok(value)) => Written(&value, fuel).to_string(),
                            Some(Err(error)) => error.to_string(),
                            None => "null".to_owned(),
                        };
                        (Written(key, fuel).to_string(), value)
                    })
                    .collect();
                entries.sort();
                f.write_char('{')?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{key}: {value}")?;
                }
                f.write_char('}')
            }
            Self::Type(name) => write!(f, "type({name})"),
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Optional(Some(value)) => write!(f, "optional.of({})", Written(value, fuel)),
            Self::Opaque(o) => write!(f, "{o}"),
            Self::Message(message) => message.write(f, fuel),
        }
    }

    /// Formats the value like Go's `%v`.
    pub fn plain(&self) -> String {
        self.plain_with(&Fuel::of_text())
    }

    fn plain_with(&self, fuel: &Fuel) -> String {
        let text = match self {
            Self::String(s) => s.len(),
            Self::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        if fuel.spend(text + 1).is_err() {
            return "…".to_owned();
        }
        match self {
            Self::String(s) => s.to_string(),
            Self::Uint(u) => u.to_string(),
            Self::Double(d) => format_v(*d),
            Self::Bytes(bytes) => {
                let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
                format!("[{}]", numbers.join(" "))
            }
            Self::Null => "0".to_owned(),
            Self::Timestamp(t) => t.to_go_text(),
            Self::Duration(d) => d.to_go_text(),
            Self::Type(name) => name.to_string(),
            Self::Optional(Some(value)) => format!("optional({})", value.plain_with(fuel)),
            Self::List(list) => {
                let items = list.iter().take_while(|_| !fuel.is_empty());
                let items: Vec<String> =
                    items.map(|item| item.map_or_else(|e| e.to_string(), |item| item.plain_with(fuel))).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(map) if !map.is_strict() => {
                let entries = map.keys_of_loop().into_iter().take_while(|_| !fuel.is_empty()).map(|key| {
                    let value = map.find(&key).unwrap_or(Ok(Self::Null));
                    let value = value.map_or_else(|e| e.to_string(), |value| value.plain_with(fuel));
                    format!("{}: {value}", key.plain_with(fuel))
                });
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            other => Written(other, fuel).to_string(),
        }
    }
}
