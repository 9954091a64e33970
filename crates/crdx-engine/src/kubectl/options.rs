//! The flags of kubectl that decide which request is sent.

/// `--validate`: how the server treats unknown and duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// The request is rejected.
    Strict,
    /// The fields are dropped with a warning.
    Warn,
    /// The fields are dropped silently.
    Ignore,
}

impl FieldValidation {
    /// The value of the `fieldValidation` query parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Warn => "Warn",
            Self::Ignore => "Ignore",
        }
    }
}

/// The kubectl command whose request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// `kubectl apply`
    #[default]
    Apply,
    /// `kubectl apply --server-side`
    ServerSide,
    /// `kubectl replace`
    Replace,
    /// `kubectl create`
    Create,
}

/// `--subresource`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subresource {
    /// `/status`
    Status,
    /// `/scale`
    Scale,
}

/// The effect of a request on the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// The object is created.
    #[default]
    Create,
    /// The object is changed.
    Update,
    /// Only metadata written by the server and kubectl changes.
    Unchanged,
}

impl Action {
    /// The word in tables and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Unchanged => "unchanged",
        }
    }
}
