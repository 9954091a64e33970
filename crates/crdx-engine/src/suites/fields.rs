//! Reads the fields of a suite's mappings; checks types and reports unknown fields.

use crdx_value::suggest;
use crdx_value::{Map, Value};

/// A problem with a field of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The path of the field (`tests.onCreate[2].initial`).
    pub path: String,
    /// The message.
    pub message: String,
}

/// The members of one mapping. Records which members were read.
pub struct Fields<'a> {
    path: String,
    members: Option<&'a Map>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Creates the fields of `value`; null has none.
    ///
    /// # Errors
    /// Returns a problem if the value is neither a mapping nor null.
    pub fn from_value(value: Option<&'a Value>, path: &str) -> Result<Self, FieldProblem> {
        let members = match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(members)) => Some(members),
            Some(_) => return Err(FieldProblem { path: path.to_owned(), message: "must be a mapping".to_owned() }),
        };
        Ok(Self { path: path.to_owned(), members, known: Vec::new() })
    }

    /// Returns the path of a member.
    pub fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Reads a member; null is treated as absent.
    pub fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.members?.get(key).filter(|value| !value.is_null())
    }

    fn problem(&self, key: &str, what: &str) -> FieldProblem {
        FieldProblem { path: self.path(key), message: format!("{key} must be {what}") }
    }

    /// Reads a text.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, FieldProblem> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.problem(key, "a string")),
        }
    }

    /// Reads a text; one that consists of white space is absent.
    pub fn filled(&mut self, key: &'static str) -> Result<Option<String>, FieldProblem> {
        Ok(self.text(key)?.filter(|text| !text.trim().is_empty()))
    }

    /// Reads a boolean, false if it is absent.
    pub fn flag(&mut self, key: &'static str) -> Result<bool, FieldProblem> {
        match self.value(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.problem(key, "true or false")),
        }
    }

    /// Reads a number without sign.
    pub fn number(&mut self, key: &'static str) -> Result<Option<u64>, FieldProblem> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = value.as_int().and_then(|number| u64::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.problem(key, "a whole number, at least 0"))
    }

    /// Reads a list, with the path of each item.
    pub fn list(&mut self, key: &'static str) -> Result<Option<Vec<(&'a Value, String)>>, FieldProblem> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Array(items)) => {
                let path = self.path(key);
                Ok(Some(items.iter().enumerate().map(|(i, item)| (item, format!("{path}[{i}]"))).collect()))
            }
            Some(_) => Err(self.problem(key, "a list")),
        }
    }

    /// Reads a list of texts.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, FieldProblem> {
        let Some(items) = self.list(key)? else { return Ok(None) };
        let text = |(item, path): (&Value, String)| match item {
            Value::String(text) => Ok(text.clone()),
            _ => Err(FieldProblem { path, message: format!("{key} must be a list of strings") }),
        };
        items.into_iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// Returns a warning for each member that was not read.
    pub fn unknown(&self) -> Vec<FieldProblem> {
        let keys = self.members.into_iter().flat_map(Map::keys);
        let unknown = keys.filter(|key| !self.known.contains(&key.as_str()));
        unknown
            .map(|key| {
                let hint = suggest::closest(key, self.known.iter().copied());
                let hint = hint.map_or_else(String::new, |known| format!("; {}", suggest::did_you_mean(known)));
                FieldProblem { path: self.path(key), message: format!("unknown field {key:?} is ignored{hint}") }
            })
            .collect()
    }
}
