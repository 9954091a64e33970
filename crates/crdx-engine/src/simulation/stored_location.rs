//! Source locations as values, for objects outside of memory ([`ObjectStore`](super::object_store::ObjectStore)).

use crate::report::SourceLocation;
use crdx_value::Value;

/// Returns a location as a value. The excerpt is left out.
pub fn to_value(location: &SourceLocation) -> Value {
    let number = |n: usize| Value::Int(n as i64);
    let origin = location.origin.as_deref().map_or(Value::Null, Value::from);
    Value::Array(vec![Value::from(&*location.source), number(location.line), number(location.column), origin])
}

/// Returns the location that [`to_value`] wrote; `None` for any other value.
pub fn from_value(value: &Value) -> Option<SourceLocation> {
    let [source, line, column, origin] = value.as_array()? else { return None };
    let number = |value: &Value| usize::try_from(value.as_int()?).ok();
    Some(SourceLocation {
        source: source.as_str()?.into(),
        line: number(line)?,
        column: number(column)?,
        origin: origin.as_str().map(Into::into),
        ..SourceLocation::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_again() {
        let whole = SourceLocation::source(&"a.yaml".into());
        let place = SourceLocation { line: 3, column: 7, ..whole.clone() }.made_from(Some(&"b.yaml".into()));
        for location in [whole, place] {
            assert_eq!(from_value(&to_value(&location)), Some(location));
        }
        assert_eq!(from_value(&Value::Null), None);
    }
}
