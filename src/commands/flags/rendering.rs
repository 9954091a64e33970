//! Options of helm and kustomize.

use clap::{Args as ClapArgs, ValueEnum};

/// The options of `--render`.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Rendering {
    /// A file with values for the charts that are rendered, as helm's --values; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Files", requires = "render")]
    pub values: Vec<String>,
    /// A value for the charts that are rendered, as helm's --set: image.tag=1.2; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Files", requires = "render")]
    pub set: Vec<String>,
    /// An API version that charts see as served by the cluster, as helm's --api-versions; may be repeated
    #[arg(long, value_name = "VERSION", help_heading = "Files", requires = "render")]
    pub api_versions: Vec<String>,
    /// A variable of postBuild of a Flux Kustomization; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Files", requires = "render")]
    pub substitute: Vec<(String, String)>,
    /// A URL by which sources of Flux name this repository (the remotes of git by default); may be repeated
    #[arg(long, value_name = "URL", help_heading = "Files", requires = "render")]
    pub repository_url: Vec<String>,
    /// Let kustomize inflate charts (`helmCharts`), as its --enable-helm
    #[arg(long, help_heading = "Files", requires = "render")]
    pub enable_helm: bool,
    /// Which files a kustomization may read, as kustomize's --load-restrictor
    #[arg(long, value_name = "RESTRICTOR", ignore_case = true, help_heading = "Files", requires = "render")]
    pub load_restrictor: Option<LoadRestrictor>,
}

/// `--load-restrictor`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum LoadRestrictor {
    /// Files in its directory and those of its bases, which is the default of kustomize
    LoadRestrictionsRootOnly,
    /// All files
    LoadRestrictionsNone,
}

/// The text is not a variable with its value.
#[derive(Debug, thiserror::Error)]
#[error("write NAME=VALUE")]
pub struct NoVariable;

fn variable(text: &str) -> Result<(String, String), NoVariable> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(NoVariable)?;
    Ok((name.to_owned(), value.to_owned()))
}

impl LoadRestrictor {
    /// The name that kustomize knows.
    pub fn name(self) -> &'static str {
        match self {
            Self::LoadRestrictionsRootOnly => "LoadRestrictionsRootOnly",
            Self::LoadRestrictionsNone => "LoadRestrictionsNone",
        }
    }
}
