//! Identifiers of devices and of shares of devices.

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::GoError;
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_35, V1_37};
use crdx_value::{Value, json};

/// `SharedDeviceID`: a device, or a share of it
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DeviceId<'v> {
    driver: &'v str,
    pool: &'v str,
    device: &'v str,
    share: &'v str,
}

impl<'v> DeviceId<'v> {
    /// The identifier in a result or a status
    pub(super) fn new(value: &'v Value) -> Self {
        let text = |name: &str| value.str_at(&[name]).unwrap_or_default();
        Self { driver: text("driver"), pool: text("pool"), device: text("device"), share: text("shareID") }
    }

    /// The identifier as errors show it. Before 1.35, its texts had no JSON.
    pub(super) fn shown(&self, release: Release) -> String {
        if !release.since(V1_35) {
            return r#"{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}"#.to_owned();
        }
        let [driver, pool, device, share] =
            [self.driver, self.pool, self.device, self.share].map(|text| json::to_string(&Value::from(text)));
        format!(r#"{{"Driver":{driver},"Pool":{pool},"Device":{device},"ShareID":{share}}}"#)
    }
}

/// The identifier of a share: `validateUID`, and `UUID` since 1.37
pub(super) fn share(errors: &mut Errors, id: &FieldValue<'_, '_>) {
    if !id.is_set() || is_uuid(id.text()) {
        return;
    }
    let detail = if errors.release.since(V1_37) {
        "must be a lowercase UUID in 8-4-4-4-12 format".to_owned()
    } else {
        match parse(id.text()) {
            Err(reason) => format!("error validating uid: {reason}"),
            Ok(()) => "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters".to_owned(),
        }
    };
    errors.invalid(id, detail);
}

/// Returns true for a UUID with hyphens and without capital letters.
fn is_uuid(text: &str) -> bool {
    has_form(text) && !text.bytes().any(|b| b.is_ascii_uppercase())
}

/// Returns true for hexadecimal digits with hyphens between them.
fn has_form(text: &str) -> bool {
    let is_hyphen = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let is_valid = |(at, b): (usize, u8)| if is_hyphen(at) { b == b'-' } else { b.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(is_valid)
}

/// `uuid.Validate` of `github.com/google/uuid`
fn parse(text: &str) -> Result<(), GoError> {
    const PREFIX: &str = "urn:uuid:";
    const FORMAT: &str = "invalid UUID format";
    let is_valid = match text.len() {
        36 => has_form(text),
        45 => {
            let (prefix, rest) = text.split_at_checked(PREFIX.len()).ok_or(FORMAT)?;
            if !prefix.eq_ignore_ascii_case(PREFIX) {
                return Err(format!("invalid urn prefix: {}", go_quote(prefix)).into());
            }
            has_form(rest)
        }
        38 => {
            let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            has_form(inner.ok_or("invalid bracketed UUID format")?)
        }
        32 => text.bytes().all(|b| b.is_ascii_hexdigit()),
        length => return Err(format!("invalid UUID length: {length}").into()),
    };
    if is_valid { Ok(()) } else { Err(FORMAT.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "123e4567-e89b-12d3-a456-426614174000";

    #[test]
    fn identifiers_may_have_other_forms() {
        for text in [UUID.to_owned(), format!("urn:uuid:{UUID}"), format!("{{{UUID}}}"), UUID.replace('-', "")] {
            assert_eq!(parse(&text), Ok(()), "{text}");
            assert_eq!(is_uuid(&text), text == UUID);
        }
        assert!(!is_uuid(&UUID.to_uppercase()));
    }

    #[test]
    fn reasons_name_the_form() {
        let reason = |text: &str| parse(text).unwrap_err();
        assert_eq!(reason("a"), "invalid UUID length: 1".into());
        assert_eq!(reason(&UUID.replace('1', "x")), "invalid UUID format".into());
        assert_eq!(reason(&format!("urn:uid::{UUID}")), r#"invalid urn prefix: "urn:uid::""#.into());
        assert_eq!(reason(&format!("[{UUID}]")), "invalid bracketed UUID format".into());
    }
}
