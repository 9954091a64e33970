//! A suite in the format of `openshift/api` and `hypershift` (`*.testsuite.yaml`), with these extensions: `crds`,
//! `policies`, `kubernetesVersions`, `onDelete`, `onApply`, `roundTrip` and `expectedWarnings`.

pub use super::fields::FieldProblem;

use super::fields::Fields;
use super::round_trips::RoundTripFields;
use crdx_text::spans::{Cache, Spans};
use crdx_text::{self as text, Position, Syntax, yaml};
use crdx_value::Value;
use crdx_value::release::ReleaseSet;
use std::sync::Arc;

/// The cases of one file.
#[derive(Debug)]
pub struct Suite {
    /// The path of the file.
    pub source: Arc<str>,
    /// The text of the file.
    pub text: Arc<[u8]>,
    /// `name`
    pub name: String,
    /// `crdName`; empty if the suite names the file of its CRD, or no CRD.
    pub crd_name: String,
    /// `crd`: the path of a file with the CRD, relative to the suite.
    pub crd: Option<String>,
    /// `crds`: the paths of more files with CRDs, relative to the suite.
    pub crds: Vec<String>,
    /// `policies`: the paths of files with admission policies and their bindings, relative to the suite.
    pub policies: Vec<String>,
    /// `version`: the version of the CRD that is tested.
    pub version: Option<String>,
    /// `featureGates`
    pub feature_gates: Vec<String>,
    /// `kubernetesVersions`: the releases on which the suite runs, in the form of `--kubernetes-version`; `None` for
    /// any.
    pub releases: Option<ReleaseSet>,
    /// The cases, in the order in which they run.
    pub cases: Vec<Case>,
    /// Warnings about duplicate and unknown fields.
    pub warnings: Vec<Warning>,
    positions: Cache,
}

/// A warning about the text of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The position.
    pub position: Position,
    /// The message.
    pub message: String,
}

/// The request of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `onCreate`: creates `initial`.
    Create,
    /// `onUpdate`: creates `initial` and replaces it by `updated`.
    Update,
    /// `onApply`: applies `applied` server-side, over `initial` if there is one.
    Apply,
    /// `onDelete`: creates `initial` and deletes it.
    Delete,
    /// A document in `valid/`, which must be accepted.
    Valid,
    /// A document in `invalid/`, which must be rejected.
    Invalid,
    /// `roundTrip`: objects of all versions are read and written in the others.
    RoundTrip(RoundTripFields),
}

impl Action {
    /// Returns the name of the field, list or directory that contains such cases.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "onCreate",
            Self::Update => "onUpdate",
            Self::Apply => "onApply",
            Self::Delete => "onDelete",
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::RoundTrip(_) => "roundTrip",
        }
    }
}

/// An object of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseObject {
    /// A string that contains YAML.
    Text(String),
    /// A document of a file.
    Object(Value),
}

/// The reason why a field of a case is not an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The case does not have the field.
    #[error("it is missing")]
    Missing,
    /// The text is not YAML.
    #[error(transparent)]
    Yaml(#[from] text::Error),
    /// The value is not a mapping.
    #[error("it is not an object")]
    NotAnObject,
}

impl CaseObject {
    /// Returns the object.
    ///
    /// # Errors
    /// Returns an error if the text is not YAML or the value is not a mapping.
    pub fn read(&self) -> Result<Value, SourceError> {
        let value = match self {
            Self::Object(object) => object.clone(),
            Self::Text(text) => yaml::read(text.as_bytes())?,
        };
        match value {
            Value::Object(_) => Ok(value),
            _ => Err(SourceError::NotAnObject),
        }
    }
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// `name`
    pub name: String,
    /// The path in the suite (`tests.onCreate[2]`); empty for a document.
    pub path: String,
    /// The position of a document.
    pub position: Option<Position>,
    /// The request.
    pub action: Action,
    /// `initial`
    pub initial: Option<CaseObject>,
    /// `updated` or `applied`.
    pub changed: Option<CaseObject>,
    /// `initialCRDPatches`: operations on the CRD while `initial` is created.
    pub patches: Vec<Value>,
    /// `expected`
    pub expected: Option<CaseObject>,
    /// `expectedError`
    pub expected_error: Option<String>,
    /// `expectedStatusError`
    pub expected_status_error: Option<String>,
    /// `expectedWarnings`
    pub expected_warnings: Option<Vec<String>>,
    /// `force` of `onApply`
    pub force: bool,
}

impl Case {
    /// Returns the case that tries all round trips of the CRD.
    pub fn round_trip(fields: RoundTripFields) -> Self {
        Self {
            name: "round trips".to_owned(),
            path: "roundTrip".to_owned(),
            position: None,
            action: Action::RoundTrip(fields),
            initial: None,
            changed: None,
            patches: Vec::new(),
            expected: None,
            expected_error: None,
            expected_status_error: None,
            expected_warnings: None,
            force: false,
        }
    }
}

/// The reason why a suite cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SuiteError {
    /// The position in the file, if it is known.
    pub position: Option<Position>,
    /// The message.
    pub message: String,
}

impl Suite {
    /// Parses a suite.
    ///
    /// # Errors
    /// Returns an error if the text is not YAML, a field has a wrong type, or neither `crdName` nor `crd` is given.
    pub fn read(source: &str, text: &[u8]) -> Result<Self, SuiteError> {
        let strict = yaml::read_strict(text).map_err(|e| SuiteError { position: e.position, message: e.message })?;
        let mut suite = Self::empty(source, text);
        match suite.fill(&strict.value) {
            Ok(unknown) => {
                let duplicates = strict.duplicates.into_iter().map(|duplicate| Warning {
                    position: duplicate.second,
                    message: format!("{}: first at {}, and the last one is used", duplicate.message, duplicate.first),
                });
                let warning = |FieldProblem { path, message }| Warning { position: suite.position(&path), message };
                suite.warnings = duplicates.chain(unknown.into_iter().map(warning)).collect();
                Ok(suite)
            }
            Err(problem) => {
                let position = Some(suite.position(&problem.path));
                Err(SuiteError { position, message: problem.message })
            }
        }
    }

    /// Creates a suite from the documents of the folder `source`.
    pub fn of_documents(source: &str, text: &[u8], cases: Vec<Case>) -> Self {
        Self { name: source.to_owned(), cases, ..Self::empty(source, text) }
    }

    fn empty(source: &str, text: &[u8]) -> Self {
        Self {
            source: source.into(),
            text: text.into(),
            name: String::new(),
            crd_name: String::new(),
            crd: None,
            crds: Vec::new(),
            policies: Vec::new(),
            version: None,
            feature_gates: Vec::new(),
            releases: None,
            cases: Vec::new(),
            warnings: Vec::new(),
            positions: Cache::default(),
        }
    }

    /// Returns the position of the key of a field, or of its value if it has no key; for a missing field, the position
    /// of its nearest existing parent.
    pub fn position(&self, path: &str) -> Position {
        let found = Spans::cached(&self.text, Syntax::Yaml, &self.positions).locate(path);
        let Position { line, column } = found.key.filter(|_| found.exact).unwrap_or(found.value).start;
        // A text without values has no positions.
        Position { line: line.max(1), column: column.max(1) }
    }

    /// Returns the position of the key of a field, if the suite has the field.
    pub(crate) fn key_position(&self, path: &str) -> Option<Position> {
        let found = Spans::cached(&self.text, Syntax::Yaml, &self.positions).locate(path);
        found.key.filter(|_| found.exact).map(|key| key.start)
    }

    /// Returns the length of the key of a field, quotes included, in characters.
    pub(crate) fn key_length(&self, path: &str) -> Option<usize> {
        let found = Spans::cached(&self.text, Syntax::Yaml, &self.positions).locate(path);
        let key = found.key.filter(|_| found.exact)?;
        Some(String::from_utf8_lossy(self.text.get(key.range)?).chars().count())
    }

    /// Returns the position of a field of a case; an empty field means the case itself.
    pub fn position_in(&self, case: &Case, field: &str) -> Position {
        let dot = if field.is_empty() { "" } else { "." };
        case.position.unwrap_or_else(|| self.position(&format!("{}{dot}{field}", case.path)))
    }

    /// Removes the round trips, and keeps the other cases.
    pub fn without_round_trips(mut self) -> Self {
        self.cases.retain(|case| !matches!(case.action, Action::RoundTrip(_)));
        self
    }

    /// Returns true if all cases are round trips, which need the CRD with all its versions.
    pub fn has_only_round_trips(&self) -> bool {
        !self.cases.is_empty() && self.cases.iter().all(|case| matches!(case.action, Action::RoundTrip(_)))
    }

    /// Returns true if the cases are documents of a folder.
    pub fn is_folder(&self) -> bool {
        self.cases.iter().any(|case| matches!(case.action, Action::Valid | Action::Invalid))
    }

    /// Sets the fields. Returns the unknown fields.
    fn fill(&mut self, value: &Value) -> Result<Vec<FieldProblem>, FieldProblem> {
        let mut top = Fields::from_value(Some(value), "")?;
        // Only controller-gen needs `apiVersion`.
        let _ = top.value("apiVersion");
        self.name = top.text("name")?.unwrap_or_default();
        self.crd_name = top.text("crdName")?.unwrap_or_default();
        self.crd = top.filled("crd")?;
        self.crds = top.texts("crds")?.unwrap_or_default();
        self.policies = top.texts("policies")?.unwrap_or_default();
        self.version = top.filled("version")?;
        self.feature_gates = top.texts("featureGates")?.unwrap_or_default();
        if let Some(versions) = top.texts("kubernetesVersions")? {
            let wrong = |message| FieldProblem { path: "kubernetesVersions".to_owned(), message };
            let set = versions.join(",").parse::<ReleaseSet>().map_err(|error| wrong(error.to_string()))?;
            self.releases = Some(set);
        }
        if value.is_null() {
            let message = "the suite is empty: it needs crdName or crd, and tests".to_owned();
            return Err(FieldProblem { path: String::new(), message });
        }
        if self.crd_name.is_empty() && self.crd.is_none() {
            let message = "neither crdName nor crd names the CRD to test".to_owned();
            return Err(FieldProblem { path: String::new(), message });
        }
        let (round_trip, more_unknown) = RoundTripFields::read(&mut top)?;
        self.cases.extend(round_trip.map(Case::round_trip));
        let mut tests = Fields::from_value(top.value("tests"), "tests")?;
        let mut unknown = top.unknown();
        unknown.extend(more_unknown);
        for (key, action) in [
            ("onCreate", Action::Create),
            ("onUpdate", Action::Update),
            ("onApply", Action::Apply),
            ("onDelete", Action::Delete),
        ] {
            for (item, path) in tests.list(key)?.unwrap_or_default() {
                let mut fields = Fields::from_value(Some(item), &path)?;
                let case = case(&mut fields, path, action)?;
                unknown.extend(fields.unknown());
                self.cases.push(case);
            }
        }
        unknown.extend(tests.unknown());
        Ok(unknown)
    }
}

fn case(fields: &mut Fields<'_>, path: String, action: Action) -> Result<Case, FieldProblem> {
    let text = |text: Option<String>| text.map(CaseObject::Text);
    let updates = action == Action::Update;
    let changed = match action {
        Action::Update => Some("updated"),
        Action::Apply => Some("applied"),
        _ => None,
    };
    let mut case = Case {
        name: fields.text("name")?.unwrap_or_default(),
        action,
        position: None,
        initial: text(fields.text("initial")?),
        changed: text(changed.map(|key| fields.text(key)).transpose()?.flatten()),
        patches: Vec::new(),
        expected: text(fields.filled("expected")?),
        expected_error: fields.text("expectedError")?.filter(|text| !text.is_empty()),
        expected_status_error: None,
        expected_warnings: fields.texts("expectedWarnings")?,
        force: action == Action::Apply && fields.flag("force")?,
        path,
    };
    if updates {
        case.expected_status_error = fields.text("expectedStatusError")?.filter(|text| !text.is_empty());
        let patches = fields.list("initialCRDPatches")?.unwrap_or_default();
        case.patches = patches.into_iter().map(|(patch, _)| patch.clone()).collect();
    }
    let needed = [(case.initial.is_none() && action != Action::Apply, "initial")];
    let needed = needed.into_iter().chain(changed.map(|key| (case.changed.is_none(), key)));
    if let Some((_, key)) = needed.into_iter().find(|(missing, _)| *missing) {
        return Err(FieldProblem { path: case.path, message: format!("the case has no {key}") });
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = "apiVersion: x\nname: S\ncrdName: foos.example.com\ntests:\n  onCreate:\n  - name: a\n    initial: |\n      kind: Foo\n    expectedErorr: x\n  onUpdate:\n  - name: b\n    initial: 'kind: Foo'\n    updated: 'kind: Foo'\n    expectedStatusError: no\n    expected: \"  \"\n";

    #[test]
    fn cases_come_with_their_places() {
        let suite = Suite::read("s.yaml", SUITE.as_bytes()).unwrap_err();
        assert_eq!(
            (suite.message.as_str(), suite.position),
            ("expectedStatusError must be a string", Some(Position { line: 14, column: 5 }))
        );
        let suite = Suite::read("s.yaml", SUITE.replace(": no\n", ": 'no'\n").as_bytes()).unwrap();
        let [a, b] = suite.cases.as_slice() else { panic!("{:?}", suite.cases) };
        assert_eq!(
            (a.name.as_str(), a.action, suite.position(&a.path)),
            ("a", Action::Create, Position { line: 6, column: 5 })
        );
        assert_eq!((b.expected.as_ref(), b.expected_status_error.as_deref()), (None, Some("no")));
        let warnings: Vec<_> = suite.warnings.iter().map(|w| w.message.as_str()).collect();
        assert_eq!(warnings, ["unknown field \"expectedErorr\" is ignored; did you mean `expectedError`?"]);
    }

    #[test]
    fn duplicate_keys_give_a_warning() {
        let suite = Suite::read("s.yaml", b"crdName: a\ntests: {}\ncrdName: b\n").unwrap();
        let position = Position { line: 3, column: 1 };
        let message = "key \"crdName\" already set in map: first at 1:1, and the last one is used".to_owned();
        assert_eq!((suite.crd_name.as_str(), suite.warnings), ("b", vec![Warning { position, message }]));
    }

    #[test]
    fn what_cannot_be_run_is_an_error() {
        for (text, message) in [
            ("name: x", "neither crdName nor crd names the CRD to test"),
            (
                "crdName: x\nkubernetesVersions: ['2.0']",
                "no Kubernetes version \"2.0\" to simulate; use one of 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37, 1.38 (beta)",
            ),
            ("crdName: x\ntests: {onCreate: [{name: a}]}", "the case has no initial"),
            ("crdName: x\ntests: {onUpdate: [{initial: a}]}", "the case has no updated"),
            ("crdName: x\ntests: []", "must be a mapping"),
            ("- a", "must be a mapping"),
            ("a: [", "yaml: line 1: did not find expected node content"),
        ] {
            assert_eq!(Suite::read("s", text.as_bytes()).unwrap_err().message, message, "{text}");
        }
    }
}
