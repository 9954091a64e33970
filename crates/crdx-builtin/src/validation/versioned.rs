//! Values of versioned types as errors of declared rules show them: as JSON, with the fields in the order of the Go source.

use crdx_types::go_type::{GoType, Shape};
use crdx_types::types::Types;
use crdx_value::field::BadValue;
use crdx_value::release::Release;
use crdx_value::{Value, json};

/// The maximum depth of printed values.
const MAX_DEPTH: usize = 200;

/// A list of values of a type
pub(crate) fn list(type_: &str, value: &Value, release: Release) -> BadValue {
    let items = value.as_array().unwrap_or_default().iter().map(|item| print(type_, item, release));
    let items: Vec<String> = items.collect();
    BadValue::Raw(format!("[{}]", items.join(",")))
}

/// A value of a type with a name such as `resource/v1.Device`
pub(crate) fn bad_value(type_: &str, value: &Value, release: Release) -> BadValue {
    BadValue::Raw(print(type_, value, release))
}

fn print(type_: &str, value: &Value, release: Release) -> String {
    let types = Types::for_release(release.minor().number().into());
    let mut out = String::new();
    match GoType::named(types, type_) {
        Some(type_) => write(&mut out, type_, value, 0),
        None => json::write_compact(&mut out, value),
    }
    out
}

fn write(out: &mut String, type_: GoType, value: &Value, depth: usize) {
    match (type_.shape(), value) {
        _ if depth > MAX_DEPTH => out.push_str("null"),
        (Shape::Struct(of), Value::Object(members)) => {
            let fields = of.fields();
            let given =
                fields.iter().filter_map(|field| Some((field.name(), field.type_(), members.get(field.name())?)));
            join(out, ['{', '}'], given, |out, (name, type_, value)| {
                json::write_string(out, name);
                out.push(':');
                write(out, type_, value, depth + 1);
            });
        }
        (Shape::List(item), Value::Array(items)) => {
            join(out, ['[', ']'], items.iter(), |out, value| write(out, item, value, depth + 1));
        }
        (Shape::Map(of), Value::Object(members)) => join(out, ['{', '}'], members.iter(), |out, (key, value)| {
            json::write_string(out, key);
            out.push(':');
            write(out, of, value, depth + 1);
        }),
        (_, value) => json::write_compact(out, value),
    }
}

/// Writes items with commas between them, in brackets.
fn join<T>(out: &mut String, [open, close]: [char; 2], items: impl Iterator<Item = T>, each: impl Fn(&mut String, T)) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn fields_are_in_the_order_of_the_source() {
        let text = r#"{"device":"d","driver":"a","networkData":{"ips":["x"],"interfaceName":"i"},"pool":"p"}"#;
        let value = read(text.as_bytes()).unwrap();
        assert_eq!(
            print("resource/v1.AllocatedDeviceStatus", &value, Release::NEWEST),
            r#"{"driver":"a","pool":"p","device":"d","networkData":{"interfaceName":"i","ips":["x"]}}"#
        );
    }

    #[test]
    fn items_of_lists_have_their_type() {
        let value = read(br#"[{"status":"True","type":"A"},{"reason":"R"}]"#).unwrap();
        let expected = BadValue::Raw(r#"[{"type":"A","status":"True"},{"reason":"R"}]"#.to_owned());
        assert_eq!(list("meta/v1.Condition", &value, Release::NEWEST), expected);
        assert_eq!(print("other", &Value::from(1), Release::NEWEST), "1");
    }
}
