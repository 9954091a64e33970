//! Decodes documents that contain credentials. An error names the field and the reason, never the text, because it may be
//! a token or a password.

use super::secret::Secret;
use crdx_text::{Error, yaml};
use crdx_value::Value;
use crdx_value::base64::Encoding;

/// Why a document with credentials cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The document is not YAML or JSON.
    #[error("it is not valid YAML{}", line.map_or_else(String::new, |line| format!(": see line {line}")))]
    Syntax {
        /// The line of the error, if known.
        line: Option<usize>,
    },
    /// A field has another type than it must have.
    #[error("{path} must be {wanted}, not {found}")]
    Type {
        path: String,
        /// The type that it must have.
        wanted: &'static str,
        /// The type that it has.
        found: &'static str,
    },
    /// A field has the right type, but its content cannot be used.
    #[error("{path} {reason}")]
    Content {
        path: String,
        /// Why it cannot be used.
        reason: &'static str,
    },
}

/// An object of a document, and its path.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    path: String,
    value: Option<&'a Value>,
}

/// Decodes the first document of a text, as kubectl does.
pub fn document(text: &[u8]) -> Result<Value, FieldError> {
    yaml::read(text).map_err(|Error { position, .. }| FieldError::Syntax { line: position.map(|p| p.line) })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'a> Fields<'a> {
    /// The fields of a document; null stands for an empty document.
    pub fn from_value(document: &'a Value) -> Result<Self, FieldError> {
        Self::at("the document".to_owned(), Some(document)).map(|fields| Self { path: String::new(), ..fields })
    }

    fn at(path: String, value: Option<&'a Value>) -> Result<Self, FieldError> {
        match value.filter(|value| !value.is_null()) {
            Some(other) if other.as_object().is_none() => Err(wrong(path, "an object", other)),
            value => Ok(Self { path, value }),
        }
    }

    /// The path of a member.
    pub fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The error that a member cannot be used.
    pub fn unusable(&self, key: &str, reason: &'static str) -> FieldError {
        FieldError::Content { path: self.path(key), reason }
    }

    /// Returns true if the object itself is absent or null.
    pub fn is_absent(&self) -> bool {
        self.value.is_none()
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.value?.get(key).filter(|value| !value.is_null())
    }

    /// A member of any type.
    pub fn any(&self, key: &str) -> Option<Value> {
        self.get(key).cloned()
    }

    /// A string; null, empty and absent are the same, as in Go.
    pub fn text(&self, key: &str) -> Result<Option<String>, FieldError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(other) => Err(wrong(self.path(key), "a string", other)),
        }
    }

    /// A string that is never printed.
    pub fn secret(&self, key: &str) -> Result<Option<Secret>, FieldError> {
        Ok(self.text(key)?.map(Secret::from))
    }

    /// Bytes in base64.
    pub fn bytes(&self, key: &str) -> Result<Option<Vec<u8>>, FieldError> {
        let decode = |text: String| Encoding::Standard.decode(&text).map_err(|_| self.unusable(key, "is not base64"));
        Ok(self.text(key)?.map(decode).transpose()?.filter(|bytes| !bytes.is_empty()))
    }

    /// A boolean; false if it is absent.
    pub fn flag(&self, key: &str) -> Result<bool, FieldError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(self.path(key), "a boolean", other)),
        }
    }

    /// An object; without fields if it is absent.
    pub fn object(&self, key: &str) -> Result<Self, FieldError> {
        Self::at(self.path(key), self.get(key))
    }

    fn list(&self, key: &str) -> Result<&'a [Value], FieldError> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(wrong(self.path(key), "a list", other)),
        }
    }

    /// A list of objects.
    pub fn objects(&self, key: &str) -> Result<Vec<Self>, FieldError> {
        let items = self.list(key)?.iter().enumerate();
        items.map(|(i, item)| Self::at(format!("{}[{i}]", self.path(key)), Some(item))).collect()
    }

    /// A list of strings.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, FieldError> {
        let text = |(i, item): (usize, &Value)| match item {
            Value::String(text) => Ok(text.clone()),
            Value::Null => Ok(String::new()),
            other => Err(wrong(format!("{}[{i}]", self.path(key)), "a string", other)),
        };
        self.list(key)?.iter().enumerate().map(text).collect()
    }

    /// Lists of strings by keys that may be any text. Paths show `*` in place of the keys.
    pub fn text_lists(&self, key: &str) -> Result<Vec<(String, Vec<String>)>, FieldError> {
        let object = self.object(key)?;
        let members = object.value.and_then(Value::as_object).into_iter().flatten();
        let each = members.map(|(key, value)| {
            let one = crdx_value::object([("*", value.clone())]);
            let texts = Fields { path: object.path.clone(), value: Some(&one) }.texts("*")?;
            Ok((key.clone(), texts))
        });
        each.collect()
    }
}

fn wrong(path: String, wanted: &'static str, found: &Value) -> FieldError {
    FieldError::Type { path, wanted, found: kind(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_field_and_never_its_text() {
        let value = document(b"a:\n- b: [canary]\nc: {canary: 7}\n").unwrap();
        let fields = Fields::from_value(&value).unwrap();
        let first = fields.objects("a").unwrap().remove(0);
        assert_eq!(first.text("b").unwrap_err().to_string(), "a[0].b must be a string, not a list");
        assert_eq!(first.objects("b").unwrap_err().to_string(), "a[0].b[0] must be an object, not a string");
        assert_eq!(first.bytes("b").unwrap_err().to_string(), "a[0].b must be a string, not a list");
        let lists = fields.text_lists("c");
        assert_eq!(lists.unwrap_err().to_string(), "c.* must be a list, not a number");
        assert_eq!(
            Fields::from_value(&Value::from("canary")).unwrap_err().to_string(),
            "the document must be an object, not a string"
        );
        let error = document(b"a: 1\nb: *canary\n").unwrap_err();
        assert!(!error.to_string().contains("canary"), "{error}");
    }
}
