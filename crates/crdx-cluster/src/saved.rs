//! A profile in place of a cluster: its answers to the requests of a connection.

use super::Error;
use super::answer::Answer;
use super::limits::Held;
use crdx_input::profile::{Profile, ProfileError};
use crdx_value::{Value, json, object};
use std::path::Path;

/// Opens the profile in a folder.
pub fn open(folder: &Path) -> Result<Profile, Error> {
    Profile::open(folder).map_err(|error| {
        Error::unreachable(error.to_string(), "write one with kubectl crdx fetch --from-cluster --profile FOLDER")
    })
}

/// Answers a request; `None` if the cluster does not have what is read.
pub fn respond(profile: &Profile, path: &str) -> Result<Option<Value>, Error> {
    if path == "/version" {
        let version = profile.description().version.as_ref();
        let numbers = |(major, minor): &(String, String)| {
            object([("major", Value::from(major.as_str())), ("minor", minor.as_str().into())])
        };
        return Ok(version.map(numbers));
    }
    profile.get(path).map_err(|error| match error {
        ProfileError::NotSaved { .. } => Error::new(error.to_string()),
        ProfileError::NotRead { .. } => Error {
            help: Some(
                "permit the user to read it (kubectl crdx rbac prints the rules), and save the profile again"
                    .to_owned(),
            ),
            ..Error::new(error.to_string())
        },
        other => Error::unreachable(other.to_string(), "save the profile again"),
    })
}

/// Returns a response as an HTTP answer.
pub fn answer(response: Result<Option<Value>, Error>, path: &str) -> Result<Answer, Error> {
    let absent = || {
        let message = format!("the profile has no {path}");
        (404, object([("kind", "Status"), ("reason", "NotFound"), ("message", &message)]))
    };
    let (code, value) = response?.map_or_else(absent, |value| (200, value));
    let mut body = Held::default().body();
    body.add(json::to_string(&value).as_bytes(), path)?;
    Ok(Answer { code, body, ..Answer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_code_of_the_server() {
        let found = answer(Ok(Some(object([("a", "b")]))), "/x").unwrap();
        assert_eq!(found.read("/x").unwrap().unwrap().str_at(&["a"]), Some("b"));
        let absent = answer(Ok(None), "/x").unwrap();
        assert_eq!((absent.read("/x").unwrap(), absent.refusal("/x").code), (None, Some(404)));
        assert!(answer(Err(Error::new("e")), "/x").is_err());
    }
}
