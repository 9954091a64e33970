//! Generates a first suite for a CRD: its examples, and for each constraint a near miss, which is an object that the
//! server rejects because of this constraint only.

mod near_miss;
mod text;

use super::compare::comparable;
use super::coverage::{ConstraintKind, Coverage};
use super::variant::Variant;
use crate::examples::{Checker, ExampleError, ExampleFields, example};
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::release::Release;
use near_miss::Finder;
use std::sync::Arc;

/// The suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSuite {
    /// The text of the suite file.
    pub text: String,
    /// The number of constraints with a near miss.
    pub covered: usize,
    /// The constraints without a near miss, as `path: text`.
    pub uncovered: Vec<String>,
}

/// The reason why there is no suite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FirstSuiteError {
    /// The server does not serve the CRD.
    #[error(transparent)]
    Crd(ExampleError),
    /// The server rejects every example with a generated name, which suites require; contains the server's message.
    #[error("found no example with a generated name that the server accepts: {0}")]
    NoExample(String),
}

/// An object that the server accepts.
struct Base {
    name: &'static str,
    object: Value,
    stored: Value,
}

/// A case of the suite.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// `initial`
    pub initial: Value,
    /// `updated`, if the case is an update.
    pub updated: Option<Value>,
    /// `expected`, or `expectedError`.
    pub expected: Result<Value, GoError>,
}

/// Generates the first suite for the storage version of a CRD. `crd_file` is the path of the CRD's file, relative to
/// the suite.
///
/// # Errors
/// Returns an error if the server rejects the CRD or every example.
pub fn first_suite(definition: &Value, crd_file: &str, release: Release) -> Result<FirstSuite, FirstSuiteError> {
    let served = Checker::new(definition, None, release).map_err(FirstSuiteError::Crd)?;
    let variant = Variant { source: crd_file.into(), definition: Arc::new(definition.clone()) };
    let reduced = variant.reduced(&served.version).unwrap_or_else(|| definition.clone());
    let checker = Checker::new(&reduced, Some(&served.version), release).map_err(FirstSuiteError::Crd)?;
    let no_version = || FirstSuiteError::Crd(ExampleError::NoVersion(served.version.clone()));
    let coverage = Coverage::new(&reduced, &served.version, release).ok_or_else(no_version)?;
    let (mut bases, mut rejection) = (Vec::new(), String::new());
    for (name, fields) in [("the minimal example", ExampleFields::Minimal), ("the full example", ExampleFields::Full)] {
        let object = comparable(example(&checker, fields).map_err(FirstSuiteError::Crd)?.object);
        if bases.iter().any(|base: &Base| base.object == object) {
            continue;
        }
        match checker.send(&near_miss::named(&object)) {
            Ok(stored) => bases.push(Base { name, object, stored: comparable(Value::clone(&stored)) }),
            Err(rejected) => rejection = rejected.message,
        }
    }
    if bases.is_empty() {
        return Err(FirstSuiteError::NoExample(rejection));
    }
    let mut finder = Finder::new(&checker, &coverage);
    for base in &bases {
        finder.search(&base.object);
    }
    for base in &bases {
        finder.search_variants(&base.object);
    }
    let mut cases: Vec<Case> = bases
        .into_iter()
        .map(|base| Case { name: base.name.to_owned(), initial: base.object, updated: None, expected: Ok(base.stored) })
        .collect();
    let (mut covered, mut uncovered) = (0, Vec::new());
    for (constraint, found) in coverage.constraints.iter().zip(finder.found) {
        let path = if constraint.path.is_empty() { "the object" } else { &constraint.path };
        let what = format!("{path}: {}", constraint.text.split_whitespace().collect::<Vec<_>>().join(" "));
        match found {
            Some(miss) => {
                covered += 1;
                let name = if constraint.kind == ConstraintKind::Rule { what } else { format!("{what} is violated") };
                cases.push(Case {
                    name,
                    initial: miss.initial,
                    updated: miss.updated,
                    expected: Err(miss.error.into()),
                });
            }
            None => uncovered.push(what),
        }
    }
    let crd_name = variant.name().to_owned();
    let text = text::suite(&checker, &crd_name, crd_file, &cases, &uncovered);
    Ok(FirstSuite { text, covered, uncovered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::kites;
    use crate::suites::Subject;
    use crate::suites::case_runner::{CaseRunner, ServerSetup};
    use crate::suites::suite::Suite;

    const SCHEMA: &str = "
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [m]
            x-kubernetes-validations:
            - {rule: self.m != 5, message: not five}
            - {rule: self.m >= oldSelf.m, message: \"it's growing\"}
            oneOf: [{required: [a]}, {required: [b]}]
            properties:
              m: {type: integer, maximum: 9}
              a: {type: string, pattern: '^x+$', maxLength: 9}
              b: {type: array, maxItems: 3, items: {type: string, enum: [p, q]}}
              c: {type: object, minProperties: 2, additionalProperties: {type: integer, minimum: 1, exclusiveMinimum: true}}
";

    #[test]
    fn every_case_holds_and_names_its_constraint() {
        let definition = kites(SCHEMA);
        let first = first_suite(&definition, "kites.yaml", Release::NEWEST).unwrap();
        assert_eq!((first.uncovered.as_slice(), first.covered), ([].as_slice(), 12), "{}", first.text);
        let suite = Suite::read("kites.testsuite.yaml", first.text.as_bytes()).unwrap();
        let definition = Arc::new(definition);
        let setup = ServerSetup {
            round_trips: crate::suites::round_trips::RoundTripSetup::default(),
            plugins: crdx_server::server::AdmissionPlugins::default(),
            release: Release::NEWEST,
            subject: Subject::CustomResource { definition: Arc::clone(&definition), file: definition },
            additional_crds: Vec::new(),
            policies: Vec::new(),
            manages_fields: false,
            now: crdx_server::server::Timestamp::default(),
        };
        let bench = CaseRunner::new(setup).unwrap();
        for case in &suite.cases {
            let outcome = bench.run(case);
            assert_eq!(outcome.failure, None, "{}", case.name);
        }
        assert_eq!(suite.cases.len(), 14);
        assert!(first.text.contains("\n  - name: 'spec: not five'\n    initial: |\n"), "{}", first.text);
        assert!(first.text.contains("expectedError: 'spec: Invalid value: it''s growing'\n"), "{}", first.text);
    }
}
