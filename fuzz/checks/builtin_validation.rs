//! Any object of a built-in kind, and any update of one, is validated in every release.
use crdx_builtin::validation;
use crdx_text::json;
use crdx_types::empties::Empties;
use crdx_types::types::Types;
use crdx_types::{Endpoint, conforms, decode, defaults, encode};
use crdx_value::group_version::{api_version, split};
use crdx_value::release::Release;
use crdx_value::{Value, field::ErrorList};

/// A body as the server reads it; `None` if it is rejected before it is validated.
fn object(body: &[u8], endpoint: &Endpoint, types: &'static Types) -> Option<Value> {
    decode::decode(types, endpoint, body).ok()?;
    json::read(body).ok()
}

/// The input: the release, then a new object in JSON and, after a line break, the existing one.
pub fn check(input: &[u8]) {
    let [minor, bodies @ ..] = input else { return };
    let minor = 30 + u32::from(*minor % 8);
    let Ok(release) = format!("1.{minor}").parse::<Release>() else { return };
    let types = Types::for_release(minor);
    let mut bodies = bodies.splitn(2, |byte| *byte == b'\n');
    let Some(new) = bodies.next() else { return };
    let Ok(value) = json::read(new) else { return };
    let member = |name: &str| value.str_at(&[name]).unwrap_or_default().to_owned();
    let (group, version) = split(value.str_at(&["apiVersion"]).unwrap_or_default());
    let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: member("kind") };
    let Some(id) = types.of_kind(&api_version(group, version), &endpoint.kind) else { return };
    let encode = |value: &Value| {
        let encoded = encode::encode(types, id, value);
        // Encoding tells the same as the stages that only look.
        assert_eq!(encoded.conforms, conforms::conforms(types, id, value));
        assert_eq!(encoded.empties, Empties::from_value(value));
        encoded
    };
    let complete = |mut object: Value| {
        defaults::set(types, id, &mut object, release);
        object
    };
    encode(&value);
    let Some(new) = object(new, &endpoint, types).map(|new| encode(&new)) else { return };
    let old = bodies.next().and_then(|old| object(old, &endpoint, types)).map(|old| complete(encode(&old).object));
    let (new, empties) = (complete(new.object), new.empties);
    let kind = (group, endpoint.kind.as_str());
    let validate = || validation::validate(kind, &new, empties.as_ref(), old.as_ref(), release);
    let texts = |errors: ErrorList| errors.iter().map(|e| format!("{}: {}", e.field, e.body())).collect::<Vec<_>>();
    assert_eq!(texts(validate()), texts(validate()));
}
