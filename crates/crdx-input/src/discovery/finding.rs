//! What discovery finds.

/// The kind of a finding, in the order in which findings are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    FluxKustomization,
    HelmRelease,
    Application,
    ApplicationSet,
    /// A project of kubebuilder or the Operator SDK.
    Kubebuilder,
    /// A kustomization that no other one is built from.
    Kustomization,
    /// A kustomization that others are built from.
    Base,
    Component,
    Chart,
    LibraryChart,
    Definitions,
    Suite,
    Manifests,
    /// Files that a kustomization uses and that are no resources: patches, and inputs of generators.
    Patch,
    Values,
    Template,
    Encrypted,
}

impl FindingKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::FluxKustomization => "fluxKustomization",
            Self::HelmRelease => "helmRelease",
            Self::Application => "application",
            Self::ApplicationSet => "applicationSet",
            Self::Kubebuilder => "kubebuilder",
            Self::Kustomization => "kustomization",
            Self::Base => "base",
            Self::Component => "component",
            Self::Chart => "chart",
            Self::LibraryChart => "libraryChart",
            Self::Definitions => "crds",
            Self::Suite => "suite",
            Self::Manifests => "manifests",
            Self::Patch => "patches",
            Self::Values => "values",
            Self::Template => "templates",
            Self::Encrypted => "encrypted",
        }
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::FluxKustomization => "Flux Kustomization",
            Self::HelmRelease => "Flux HelmRelease",
            Self::Application => "Argo CD Application",
            Self::ApplicationSet => "Argo CD ApplicationSet",
            Self::Kubebuilder => "kubebuilder project",
            Self::Kustomization => "kustomization",
            Self::Base => "kustomize base",
            Self::Component => "kustomize component",
            Self::Chart => "Helm chart",
            Self::LibraryChart => "Helm library chart",
            Self::Definitions => "CRDs",
            Self::Suite => "test suite",
            Self::Manifests => "manifests",
            Self::Patch => "kustomize patches",
            Self::Values => "Helm values",
            Self::Template => "Helm templates",
            Self::Encrypted => "encrypted files",
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub kind: FindingKind,
    /// A file or a directory.
    pub path: String,
    /// The line of an object.
    pub line: Option<usize>,
    /// The name of an object.
    pub name: Option<String>,
    /// The number of objects, CRDs or files in a directory.
    pub count: Option<usize>,
    /// Paths of this repository that it is built from or refers to.
    pub uses: Vec<String>,
    /// What it needs that is not in this repository: remote bases, and charts.
    pub needs: Vec<String>,
}

impl Finding {
    pub(super) fn new(kind: FindingKind) -> Self {
        let (path, uses, needs) = (String::new(), Vec::new(), Vec::new());
        Self { kind, path, line: None, name: None, count: None, uses, needs }
    }

    /// Describes a finding for people.
    pub fn details(&self) -> String {
        let count = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let counted = self.count.map(|number| match self.kind {
            FindingKind::Definitions => count(number, "CRD", "CRDs"),
            FindingKind::Manifests => count(number, "object", "objects"),
            _ => count(number, "file", "files"),
        });
        let named = |verb: &str, list: &[String]| (!list.is_empty()).then(|| format!("{verb} {}", list.join(", ")));
        let parts = [self.name.clone(), counted, named("uses", &self.uses), named("needs", &self.needs)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}
