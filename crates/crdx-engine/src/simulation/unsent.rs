//! Objects for which no request is sent.

use super::existing::Found;
use super::object_store::TEMP_FILE_HELP;
use crate::cluster;
use crate::kubectl::UnsentError;
use crate::report::{Identity, ObjectReport, Verdict};
use crate::simulation::identity::FieldLocator;
use std::io;

/// The reason why no request is sent for an object.
pub struct Unsent {
    message: String,
    help: Option<String>,
}

impl Unsent {
    /// Returns the item of the object.
    pub fn item(self, identity: Identity, locator: &dyn FieldLocator) -> ObjectReport {
        let mut item = ObjectReport::new(locator.start(), Verdict::CannotTell, self.message);
        item.identity = identity;
        item.help = self.help;
        item
    }
}

impl Unsent {
    /// Adds what to do next.
    pub fn with_help(self, help: Option<String>) -> Self {
        Self { help: help.or(self.help), ..self }
    }

    /// The error of reading the existing object.
    pub fn to_error(&self) -> cluster::Error {
        cluster::Error { message: self.message.clone(), help: self.help.clone(), ..cluster::Error::default() }
    }

    /// The error of reading the existing object.
    pub fn into_error(self) -> cluster::Error {
        cluster::Error { message: self.message, help: self.help, ..cluster::Error::default() }
    }
}

impl From<UnsentError> for Unsent {
    fn from(error: UnsentError) -> Self {
        error.to_string().into()
    }
}

impl From<String> for Unsent {
    fn from(message: String) -> Self {
        Self { message, help: None }
    }
}

/// Describes why the existing object cannot be determined.
pub(crate) fn not_determined(found: Found) -> Unsent {
    match found {
        Found::Two(first, second) => Unsent {
            message: format!("there are two old objects for it, at {first} and at {second}"),
            help: Some("leave one of them out".to_owned()),
        },
        Found::Error(error) => Unsent { message: error.message, help: error.help },
        Found::Nothing | Found::Object(..) => Unsent::from("there is no old object".to_owned()),
    }
}

/// Describes why the object that an earlier input stored is not known.
pub fn lost(kind: io::ErrorKind) -> Unsent {
    Unsent {
        message: format!("the earlier object of the same name cannot be kept in a temporary file: {kind}"),
        help: Some(TEMP_FILE_HELP.to_owned()),
    }
}
