//! Checks the documents of one file as `validate`, `lint` and `test` do, with CRDs and policies that are read once.

use super::served_kind::ServedKind;
use crdx_engine::documents::{Document, InputEntry};
use crdx_engine::lint::check::{self, Linted, Old, policy};
use crdx_engine::lint::policies::references::Objects;
use crdx_engine::report::ObjectReport;
use crdx_engine::report::severity::{self, Severities, Severity};
use crdx_engine::simulation::existing::ExistingObjects;
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::known_cluster::given::GivenObjects;
use crdx_engine::simulation::object::{Kind, MAX_FOUND, Object, lintable, warning};
use crdx_engine::suites::Suite;
use crdx_engine::suites::suite::SuiteError;
use crdx_input::required::{Required, Sources};
use crdx_input::temp_store::TempStore;
use crdx_input::{Input, InputOptions};
use crdx_runner::simulation::{Plan, Simulation};
use crdx_runner::suites::load::{Library, LoadProblem};
use crdx_runner::suites::plan::{self, Selection};
use crdx_runner::suites::suite_run::SuiteRun;
use crdx_runner::suites::{find, run};
use crdx_types::groups;
use crdx_value::{Value, group_version};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io::{self, Cursor};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// The CRDs and policies of the workspace, ready for files.
#[derive(Debug)]
pub struct Checker {
    plan: Arc<Plan>,
    /// The CRDs of the settings, which suites are run with.
    crds: Vec<String>,
    workspace: Simulation,
    /// The types and objects for policies and bindings, read on first use.
    policies: OnceCell<policy::Context>,
    /// The CRDs of each suite, by its path.
    libraries: RefCell<HashMap<String, Library>>,
    /// The examples of kinds, made on first use.
    examples: RefCell<HashMap<ServedKind, String>>,
    /// The severities of the findings of this program.
    pub severities: Severities,
    /// The problems with CRDs and policies.
    pub problems: Vec<ObjectReport>,
}

/// The reports of `validate`, `lint` and `test` for a file.
#[derive(Debug, Default)]
pub struct Checked {
    /// The items of `validate`.
    pub items: Vec<ObjectReport>,
    /// The results of `lint`.
    pub linted: Vec<(Object, Linted)>,
    /// The result of `test`, if the file is a suite.
    pub suite: Option<Result<Tested, SuiteError>>,
    /// The kinds whose CRD is not known.
    pub unknown: Vec<Kind>,
}

/// The result of a suite.
#[derive(Debug)]
pub struct Tested {
    pub suite: Arc<Suite>,
    pub runs: Vec<SuiteRun>,
    /// The files that cannot be read.
    pub problems: Vec<LoadProblem>,
    /// The severity of the warnings about the text of the suite.
    pub warnings: Severity,
}

/// The objects of an earlier version of a file.
#[derive(Debug)]
pub struct Committed {
    existing: ExistingObjects,
    /// CRDs and policies by kind and name.
    lintable: HashMap<(String, String), Old>,
}

impl Committed {
    /// Reads the objects of a version called `name`. Documents that are not objects are skipped.
    pub fn read(name: &str, content: &[u8]) -> Self {
        let entries = || {
            let options = InputOptions { skip_non_objects: true, ..InputOptions::default() };
            Input::from_reader(name, Box::new(Cursor::new(content.to_owned())), options)
        };
        let old = |mut object: Object| {
            let location = object.finder().start();
            let value = object.take_value();
            (key(&value), Old { value, location })
        };
        let lintable = lintable(entries(), &mut |_| {}).into_iter().flatten().map(old).collect();
        let mut given = GivenObjects::default();
        let store = Arc::new(TempStore::default());
        // Only objects that are edited are compared with the commit.
        let existing = ExistingObjects::from_files(entries(), store, (&mut given, "default"), &mut |_| {});
        Self { existing, lintable }
    }
}

impl Checker {
    /// Reads the CRDs and policies of a plan; `crds` are those of the settings.
    pub fn new(plan: Plan, crds: Vec<String>) -> Self {
        let plan = Arc::new(plan);
        let mut problems = Vec::new();
        let workspace = Simulation::prepare(Arc::clone(&plan), &mut |item| problems.push(item));
        Self {
            plan,
            crds,
            workspace,
            policies: OnceCell::new(),
            libraries: RefCell::default(),
            examples: RefCell::default(),
            severities: Severities::default(),
            problems,
        }
    }

    /// Adds a CRD of the cluster, unless the workspace defines the kind.
    pub fn install_from_cluster(&mut self, kind: &Kind, definition: &Value) {
        self.examples.get_mut().clear();
        self.workspace.install_from_cluster(kind, definition);
    }

    /// Returns the example of a kind, which is made once.
    pub fn example(&self, kind: &ServedKind, make: impl FnOnce() -> String) -> String {
        if let Some(known) = self.examples.borrow().get(kind) {
            return known.clone();
        }
        let made = make();
        self.examples.borrow_mut().insert(kind.clone(), made.clone());
        made
    }

    /// Reads the CRDs of suites again.
    pub fn forget_suites(&mut self) {
        self.libraries.get_mut().clear();
    }

    /// Checks a file, as an update of `committed` if that is given. CRDs in it are not compared with the workspace's CRDs of
    /// the same name.
    ///
    /// # Errors
    /// A temporary file cannot be written, or a thread cannot be started.
    pub fn check(&self, path: &str, content: &str, committed: Option<&Committed>) -> io::Result<Checked> {
        if self.plan.options.ignore.matches(Path::new(path)) {
            return Ok(Checked::default());
        }
        if find::holds_suite(Path::new(path), content.as_bytes()) {
            return Ok(Checked { suite: Some(self.test(path, content)?), ..Checked::default() });
        }
        let parts = self.parts(path, content);
        let mut checked = Checked { linted: self.lint(&parts, committed), ..Checked::default() };
        let again = |simulation: &Simulation| match committed {
            Some(committed) => simulation.updating(&committed.existing),
            None => simulation.again(),
        };
        let own = (!parts.definitions.is_empty() && !parts.others.is_empty()).then(|| self.own(&parts.definitions));
        let own = own.transpose()?;
        let (mut in_file, mut elsewhere) = (Vec::new(), Vec::new());
        for part in parts.others {
            let object = part.iter().find_map(|entry| match entry {
                InputEntry::Document(document) => Some(&document.value),
                _ => None,
            });
            let is_own = |own: &Simulation| object.is_some_and(|object| definition(own, object).is_some());
            if own.as_ref().is_some_and(is_own) {
                in_file.extend(part);
                continue;
            }
            if let Some(kind) = object.and_then(kind).filter(|kind| self.is_unknown(kind)) {
                checked.unknown.push(kind);
            }
            elsewhere.extend(part);
        }
        if let Some(own) = own.filter(|_| !in_file.is_empty()) {
            again(&own).simulate(in_file.into_iter(), &mut |item| checked.items.push(item))?;
        }
        again(&self.workspace).simulate(elsewhere.into_iter(), &mut |item| checked.items.push(item))?;
        let linted = checked.linted.iter_mut().map(|(_, linted)| &mut linted.item);
        checked.items.iter_mut().chain(linted).for_each(|item| self.severities.apply(item));
        Ok(checked)
    }

    fn is_unknown(&self, (group, _, name): &Kind) -> bool {
        self.workspace.definition(group, name).is_none() && !groups::is_built_in(group)
    }

    /// A simulation with only these CRDs: the workspace's servers must not get the CRDs of an unsaved file.
    fn own(&self, definitions: &[Object]) -> io::Result<Simulation> {
        let plan = Plan { crds: Vec::new(), ..(*self.plan).clone() };
        let mut own = Simulation::prepare(Arc::new(plan), &mut |_| {});
        let definitions = definitions.iter().map(|object| InputEntry::Document(object.document.clone()));
        own.simulate(definitions.collect::<Vec<_>>().into_iter(), &mut |_| {})?;
        Ok(own)
    }

    /// The results of `lint` for the CRDs and policies of a file.
    fn lint(&self, parts: &Parts, committed: Option<&Committed>) -> Vec<(Object, Linted)> {
        let (releases, now) = (self.workspace.releases(), self.plan.now);
        let old = |object: &Object| committed.and_then(|committed| committed.lintable.get(&key(object.value())));
        let mut all = Vec::new();
        for object in &parts.definitions {
            all.push((object.clone(), check::definition(object, old(object), (releases, now), None)));
        }
        if !parts.policies.is_empty() {
            let mut context = self.policies.get_or_init(|| self.policy_context()).clone();
            context.types.extend(policy::types_of(&parts.definitions));
            for object in parts.objects() {
                context.objects.add(object, releases.newest());
            }
            for object in &parts.policies {
                let old = old(object).map(|old| &old.value);
                all.push((object.clone(), policy::check(object, old, &context, releases, now)));
            }
        }
        all
    }

    /// The types and objects of the CRDs and policies of the workspace.
    fn policy_context(&self) -> policy::Context {
        let mut objects = Objects::default();
        let release = self.workspace.releases().newest();
        let paths = self.plan.crds.iter().chain(&self.plan.policies.paths).cloned().collect::<Vec<_>>();
        let sources = Sources::open(&paths, self.plan.options.clone(), Required::Nothing, "");
        let found: Vec<Object> =
            lintable(sources, &mut |object| objects.add(object, release)).into_iter().flatten().collect();
        policy::Context { types: policy::types_of(&found), objects }
    }

    /// Runs a suite with the CRDs that `test` uses: those of the settings, or those that the suite names. If it names none,
    /// the workspace's.
    fn test(&self, path: &str, content: &str) -> io::Result<Result<Tested, SuiteError>> {
        let suite = match Suite::read(path, content.as_bytes()) {
            // Round trips are too slow to run after each edit.
            Ok(suite) => Arc::new(suite.without_round_trips()),
            Err(error) => return Ok(Err(error)),
        };
        let mut libraries = self.libraries.borrow_mut();
        let mut library = libraries.remove(path).unwrap_or_default();
        let mut selection =
            Selection { crds: self.crds.clone(), releases: self.plan.releases.clone(), ..Selection::default() };
        if selection.crds.is_empty() && library.candidates(&suite, &[]).is_empty() {
            selection.crds.clone_from(&self.plan.crds);
        }
        let planned = plan::plan(&suite, &selection, &mut library, self.plan.now);
        let problems = std::mem::take(&mut library.problems);
        // Files with problems are read, and reported, again.
        if problems.is_empty() {
            libraries.insert(path.to_owned(), library);
        }
        let runs = run::run(planned, NonZeroUsize::MIN, false)?;
        let warnings = self.severities.of(severity::INPUT).unwrap_or(Severity::Warning);
        Ok(Ok(Tested { suite, runs, problems, warnings }))
    }

    /// The objects of a file.
    pub fn documents(&self, path: &str, content: &str) -> Vec<Document> {
        let entries = self.input(path, content);
        entries
            .filter_map(|entry| if let InputEntry::Document(document) = entry { Some(document) } else { None })
            .collect()
    }

    /// True if the file at `path` is one of the workspace's files with CRDs.
    pub fn reads(&self, path: &str) -> bool {
        self.plan.crds.iter().any(|crds| path.starts_with(crds.as_str()))
    }

    /// The stored CRD of an object.
    pub fn definition(&self, object: &Value) -> Option<&Arc<Value>> {
        definition(&self.workspace, object)
    }

    /// The file with a CRD of the workspace.
    pub fn definition_file(&self, definition: &Value) -> Option<&str> {
        self.workspace.definition_location(definition.str_at(&["metadata", "name"])?).map(|location| &*location.source)
    }

    /// The stored CRDs, in no order.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.workspace.definitions()
    }

    /// The simulated releases.
    pub fn releases(&self) -> &crdx_value::release::ReleaseSet {
        self.workspace.releases()
    }

    fn input(&self, path: &str, content: &str) -> Input {
        let options = InputOptions { skip_non_objects: true, ..self.plan.options.clone() };
        Input::from_reader(path, Box::new(Cursor::new(content.to_owned())), options)
    }

    fn parts(&self, path: &str, content: &str) -> Parts {
        let mut parts = Parts::default();
        // A note about the text of a document comes before it.
        let mut notes = Vec::new();
        for entry in self.input(path, content) {
            match entry {
                InputEntry::Warning(note) if note.position.is_some() => notes.push(note),
                InputEntry::Document(document) if document.is_definition() || document.is_policy() => {
                    let shown = notes.drain(..).enumerate();
                    let warnings = shown.map(|(i, note)| warning(&note, &document, i < MAX_FOUND)).collect();
                    let object = Object { document, warnings };
                    let list = if object.is_definition() { &mut parts.definitions } else { &mut parts.policies };
                    list.push(object);
                }
                other => parts.others.push(notes.drain(..).map(InputEntry::Warning).chain([other]).collect()),
            }
        }
        parts
    }
}

/// The contents of a file.
#[derive(Default)]
struct Parts {
    definitions: Vec<Object>,
    policies: Vec<Object>,
    /// Every other document, with the warnings about it, and every problem.
    others: Vec<Vec<InputEntry>>,
}

impl Parts {
    fn objects(&self) -> impl Iterator<Item = &Value> {
        let others = self.others.iter().flatten().filter_map(|entry| match entry {
            InputEntry::Document(document) => Some(&document.value),
            _ => None,
        });
        self.definitions.iter().chain(&self.policies).map(Object::value).chain(others)
    }
}

fn kind(object: &Value) -> Option<Kind> {
    let (group, version) = group_version::split(object.str_at(&["apiVersion"])?);
    Some((group.to_owned(), version.to_owned(), object.str_at(&["kind"])?.to_owned()))
}

/// The kind and name of a CRD or policy.
fn key(object: &Value) -> (String, String) {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
    (text(&["kind"]), text(&["metadata", "name"]))
}

fn definition<'s>(simulation: &'s Simulation, object: &Value) -> Option<&'s Arc<Value>> {
    let (group, _) = group_version::split(object.str_at(&["apiVersion"])?);
    simulation.definition(group, object.str_at(&["kind"])?)
}
