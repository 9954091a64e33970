//! The CRDs that define the kinds of an input. A rendered directory may have a CRD of its own that differs from the one that other
//! inputs have, as overlays of one base do; it defines the kind for the objects of this directory only.

use super::Simulator;
use super::definitions::{Definitions, Difference, Installed, Route};
use super::list_models::{Model, Models};
use super::object::Kind;
use crate::kubectl::RequestKind;
use crate::kubectl::request::RequestOptions;
use crate::report::SourceLocation;
use crdx_server::server::Server;
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The part of the input that has a CRD: a directory that was rendered on its own, or `None` for files.
type Root = Option<Arc<str>>;

/// The origin of a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionSource {
    /// `--crds`, the files of policies or the cluster: it decides what a kind is.
    Given,
    /// An object of the input.
    Input(Root),
}

/// The CRDs that one rendered directory has instead of those of other inputs.
#[derive(Debug)]
struct OwnDefinitions {
    server: Arc<Server>,
    definitions: Definitions,
    models: Models,
}

/// A CRD to be created.
pub(super) struct NewDefinition<'a> {
    pub crd: Value,
    pub location: &'a SourceLocation,
    pub source: DefinitionSource,
    /// The request that kubectl sends; `None` for a CRD that is assumed to exist in the cluster.
    pub request_kind: Option<&'a RequestKind>,
    pub options: RequestOptions,
}

/// The result of creating a CRD.
pub(super) struct InstalledDefinition {
    pub installed: Installed,
    /// The location of the CRD that objects are validated with, if this one only has a verdict of its own.
    pub decided_by: Option<SourceLocation>,
}

/// The CRD of a kind for an object.
pub(super) enum DefinitionOfKind {
    Known(Arc<Route>),
    /// Two inputs define the kind in different ways, and none of them is that of the object.
    Ambiguous(SourceLocation, SourceLocation),
    Unknown,
}

/// The CRDs of a run so far.
#[derive(Debug, Default)]
pub(super) struct DefinedKinds {
    /// The first CRD of each name.
    first: Definitions,
    /// By name: where the first CRD comes from.
    sources: HashMap<String, DefinitionSource>,
    /// The names of CRDs that define kinds of objects in other parts of the input.
    shared: BTreeSet<String>,
    own: BTreeMap<Root, OwnDefinitions>,
    /// True if a rendered directory has a CRD.
    has_roots: bool,
    /// CRDs that define no kind of this run; only their verdicts count.
    apart: Option<OwnDefinitions>,
    /// The models of the kinds of `first`.
    models: Models,
}

impl DefinedKinds {
    /// Returns the same CRDs of all inputs for another one.
    pub fn again(&self) -> Self {
        Self { first: self.first.clone(), sources: self.sources.clone(), has_roots: self.has_roots, ..Self::default() }
    }

    /// Returns the first CRDs of each name.
    pub fn first(&self) -> &Definitions {
        &self.first
    }

    /// Returns the CRD of a kind for an object of a part of the input.
    pub fn of_kind(&mut self, root: Option<&Arc<str>>, kind: &Kind) -> DefinitionOfKind {
        let route = |definitions: &Definitions| definitions.route(&kind.0, &kind.2).cloned();
        // Without rendered directories, a kind has one CRD.
        if root.is_none() && !self.has_roots {
            return route(&self.first).map_or(DefinitionOfKind::Unknown, DefinitionOfKind::Known);
        }
        let root = root.cloned();
        if let Some(own) = self.own.get(&root).and_then(|own| route(&own.definitions)) {
            return DefinitionOfKind::Known(own);
        }
        let Some(first) = route(&self.first) else { return DefinitionOfKind::Unknown };
        let name = name(&first.definition).to_owned();
        if matches!(self.sources.get(&name), Some(DefinitionSource::Input(source)) if *source != root) {
            let other = self.own.values().find_map(|own| own.definitions.location(&name));
            if let (Some(other), Some(first)) = (other, self.first.location(&name)) {
                return DefinitionOfKind::Ambiguous(first.clone(), other.clone());
            }
            self.shared.insert(name);
        }
        DefinitionOfKind::Known(first)
    }

    /// Returns the published model of a kind or list, if it is known.
    pub fn model(&mut self, simulator: &Simulator, root: Option<&Arc<str>>, kind: &Kind) -> Option<Arc<Model>> {
        let release = simulator.server.release();
        if let Some(own) = self.own.get_mut(&root.cloned())
            && own
                .definitions
                .route(&kind.0, &kind.2)
                .or_else(|| own.definitions.list_route(&kind.0, &kind.2))
                .is_some()
        {
            return own.models.get(kind, &own.definitions, release);
        }
        self.models.get(kind, &self.first, release)
    }

    /// Creates a CRD, as the first one of its name, as one of a rendered directory, or only for its own verdict.
    pub fn install(&mut self, simulator: &Simulator, new: NewDefinition<'_>) -> InstalledDefinition {
        let name = name(&new.crd).to_owned();
        self.has_roots |= matches!(new.source, DefinitionSource::Input(Some(_)));
        let difference = self.first.difference(&simulator.server, &new.crd, new.options);
        let (Some(difference), Some(first)) = (difference, self.first.location(&name).cloned()) else {
            let source = new.source.clone();
            let installed = install(&mut self.first, &simulator.server, new);
            if self.first.location(&name).is_some() {
                self.sources.insert(name, source);
            }
            return installed.into();
        };
        let DefinitionSource::Input(root) = &new.source else { return conflict(difference, first).into() };
        let Some(source) = self.sources.get(&name).filter(|_| new.request_kind.is_some()) else {
            return conflict(difference, first).into();
        };
        match (difference, source) {
            (Difference::None, DefinitionSource::Input(_)) => Installed::Same(first).into(),
            (Difference::None | Difference::Metadata, _) => self.install_apart(simulator, new).into(),
            (Difference::Definition, DefinitionSource::Given) if root.is_none() => {
                InstalledDefinition { decided_by: Some(first), ..self.install_apart(simulator, new).into() }
            }
            (Difference::Definition, DefinitionSource::Input(other)) if other == root => {
                Installed::Conflict(first).into()
            }
            (Difference::Definition, _) if self.shared.contains(&name) => Installed::Conflict(first).into(),
            (Difference::Definition, _) => {
                self.own.entry(root.clone()).or_insert_with(|| OwnDefinitions::new(simulator)).install(new).into()
            }
        }
    }

    fn install_apart(&mut self, simulator: &Simulator, new: NewDefinition<'_>) -> Installed {
        let apart = self.apart.take_if(|apart| apart.definitions.location(name(&new.crd)).is_none());
        self.apart.insert(apart.unwrap_or_else(|| OwnDefinitions::new(simulator))).install(new)
    }
}

impl OwnDefinitions {
    fn new(simulator: &Simulator) -> Self {
        let server = Arc::new(simulator.another_server());
        Self { definitions: Definitions::on(Arc::clone(&server)), server, models: Models::default() }
    }

    fn install(&mut self, new: NewDefinition<'_>) -> Installed {
        install(&mut self.definitions, &self.server, new)
    }
}

fn install(definitions: &mut Definitions, server: &Server, new: NewDefinition<'_>) -> Installed {
    definitions.install(server, new.crd, new.location, new.request_kind, new.options)
}

fn conflict(difference: Difference, first: SourceLocation) -> Installed {
    if difference == Difference::Definition { Installed::Conflict(first) } else { Installed::Same(first) }
}

fn name(crd: &Value) -> &str {
    crd.str_at(&["metadata", "name"]).unwrap_or_default()
}

impl From<Installed> for InstalledDefinition {
    fn from(installed: Installed) -> Self {
        Self { installed, decided_by: None }
    }
}
