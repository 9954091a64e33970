//! Errors of the conversion to the internal type of a kind (`pkg/apis/*/v1/conversion.go`).

use crate::server::metadata;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_types::defaults::TEMPLATE_GENERATION;
use crdx_value::Value;
use crdx_value::quote::go_quote;
use std::num::{IntErrorKind, ParseIntError};

/// The error of an object that cannot be converted; `None` if it can. The generation of a `DaemonSet`'s template is a number
/// (`Convert_v1_DaemonSet_To_apps_DaemonSet`).
pub(super) fn error(kind: &BuiltInKind, object: &Value) -> Option<String> {
    if kind.endpoint.kind != "DaemonSet" {
        return None;
    }
    // Null is the empty text in Go.
    let text = metadata::get(object, "annotations")?.get(TEMPLATE_GENERATION)?.as_str().unwrap_or_default();
    let error = text.parse::<i64>().err()?;
    Some(format!("strconv.ParseInt: parsing {}: {}", go_quote(text), reason(&error)))
}

fn reason(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::release::Release;

    #[test]
    fn the_generation_of_a_template_is_a_number() {
        let error_of = |name: &str, generation: &str| {
            let kind = BuiltInKind::new("apps", "v1", name, "daemonsets", Release::NEWEST).unwrap();
            let text = format!(r#"{{"metadata":{{"annotations":{{"{TEMPLATE_GENERATION}":{generation}}}}}}}"#);
            error(&kind, &json::read(text.as_bytes()).unwrap())
        };
        assert_eq!(error_of("DaemonSet", r#""+7""#), None);
        assert_eq!(
            error_of("DaemonSet", r#""x""#).as_deref(),
            Some(r#"strconv.ParseInt: parsing "x": invalid syntax"#)
        );
        assert_eq!(error_of("DaemonSet", "null").as_deref(), Some(r#"strconv.ParseInt: parsing "": invalid syntax"#));
        let long = error_of("DaemonSet", r#""99999999999999999999""#).unwrap();
        assert!(long.ends_with(": value out of range"), "{long}");
        assert_eq!(error_of("Deployment", r#""x""#), None);
    }
}
