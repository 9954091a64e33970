//! Compares values with enum members: the value is first converted to the type of the member with Go's conversion rules
//! (`basicCommonValidator` in `kube-openapi/pkg/validation/validate/validator.go`), so 1.5 becomes 1, and 65 becomes
//! "A".

use crdx_value::{Value, number};

/// Returns true if `v` equals the enum `member`; null equals nothing.
pub fn equals(v: &Value, member: &Value) -> bool {
    match (v, member) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Int(i), Value::Float(x)) => *i as f64 == *x,
        (Value::Float(x), Value::Int(i)) => number::to_int64(*x) == *i,
        (Value::Int(i), Value::String(s)) => {
            let c = u32::try_from(*i).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            s.strip_prefix(c) == Some("")
        }
        _ => v == member,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_first() {
        assert!(equals(&Value::Float(1.5), &Value::Int(1)));
        assert!(equals(&Value::Int(65), &Value::from("A")));
        assert!(equals(&Value::Int(1), &Value::Float(1.0)));
        assert!(!equals(&Value::from("A"), &Value::Int(65)));
        assert!(!equals(&Value::Null, &Value::Null));
    }
}
