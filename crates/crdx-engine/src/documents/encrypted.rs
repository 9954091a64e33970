//! Manifests that SOPS encrypted. Keys are readable, values are `ENC[AES256_GCM,data:…,type:str]`, and `sops` has the metadata
//! of SOPS, which is no part of the object. Nothing is decrypted, and no key is read.

use crdx_value::Value;

/// The field with the metadata of SOPS.
const METADATA: &str = "sops";

/// The start of an encrypted value (`aes.Cipher.Encrypt` in SOPS).
const START: &str = "ENC[AES256_GCM,data:";

/// The most fields that are looked for in one object.
const MOST: usize = 10_000;

/// A field whose value is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedField {
    /// The names and indexes from the root.
    pub path: Vec<String>,
    /// The encrypted text.
    pub text: String,
}

/// Returns true if SOPS encrypted a document: its metadata has a message authentication code.
pub fn is_encrypted(value: &Value) -> bool {
    value.str_at(&[METADATA, "mac"]).is_some_and(is_encrypted_text)
}

/// Returns true if SOPS encrypted what identifies an object.
pub fn hides_identity(value: &Value) -> bool {
    let paths: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata", "name"]];
    is_encrypted(value) && paths.into_iter().any(|path| value.str_at(path).is_some_and(is_encrypted_text))
}

/// Removes the metadata of SOPS from a document that it encrypted, and puts a value of the same type in the place of each encrypted
/// one. Returns the encrypted fields.
pub(super) fn open(value: &mut Value) -> Vec<EncryptedField> {
    let mut fields = Vec::new();
    if value.get(METADATA).is_none() || !is_encrypted(value) {
        return fields;
    }
    if let Some(members) = value.as_object_mut() {
        members.remove(METADATA);
    }
    replace(value, &mut Vec::new(), &mut fields);
    fields
}

fn replace(value: &mut Value, path: &mut Vec<String>, fields: &mut Vec<EncryptedField>) {
    if fields.len() >= MOST {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                path.push(name.clone());
                replace(member, path, fields);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(index.to_string());
                replace(item, path, fields);
                path.pop();
            }
        }
        Value::String(text) if is_encrypted_text(text) => {
            let text = std::mem::take(text);
            *value = of_type(&text);
            fields.push(EncryptedField { path: path.clone(), text });
        }
        _ => {}
    }
}

fn is_encrypted_text(text: &str) -> bool {
    text.starts_with(START) && text.ends_with(']')
}

/// A value of the type of an encrypted one.
fn of_type(text: &str) -> Value {
    match text.rsplit_once(",type:").map(|(_, rest)| rest) {
        Some("int]") => Value::Int(0),
        Some("float]") => Value::Float(0.0),
        Some("bool]") => Value::Bool(false),
        _ => Value::String(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    const SECRET: &str = "
apiVersion: v1
kind: Secret
metadata: {name: a}
stringData:
  password: 'ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ=,type:str]'
  plain: ENC
spec:
- 'ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ=,type:int]'
sops:
  mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'
  version: 3.9.0
";

    #[test]
    fn encrypted_values_have_their_type() {
        let mut value = yaml::read(SECRET.as_bytes()).unwrap();
        assert!(is_encrypted(&value) && !hides_identity(&value));
        let fields = open(&mut value);
        let mut paths: Vec<String> = fields.iter().map(|field| field.path.join(".")).collect();
        paths.sort();
        assert_eq!(paths, ["spec.0", "stringData.password"]);
        assert_eq!(value.get("sops"), None);
        assert_eq!(value.str_at(&["stringData", "password"]), Some(""));
        assert_eq!(value.get("spec"), Some(&Value::Array(vec![Value::Int(0)])));
        assert!(fields.iter().all(|field| is_encrypted_text(&field.text)));
    }

    #[test]
    fn a_field_called_sops_is_not_always_metadata() {
        for text in ["sops: {}", "sops: {mac: x}", "sops: 1", "a: 'ENC[AES256_GCM,data:x,type:str]'"] {
            let value = yaml::read(text.as_bytes()).unwrap();
            let mut opened = value.clone();
            assert!(open(&mut opened).is_empty() && opened == value, "{text}");
        }
    }

    #[test]
    fn the_name_of_an_object_may_be_encrypted() {
        let text = SECRET.replace("{name: a}", "{name: 'ENC[AES256_GCM,data:x,type:str]'}");
        assert!(hides_identity(&yaml::read(text.as_bytes()).unwrap()));
    }
}
