//! The flags for admission policies, and for the user that sends the requests.

use super::error::ArgumentError;
use clap::Args as ClapArgs;
use crdx_engine::simulation::admission::AdmissionOptions as RequestOptions;
use crdx_files::open::read_any;
use crdx_runner::simulation::admission;
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::UserInfo;
use crdx_text as text;
use std::path::Path;

/// The admission policies to evaluate, and the user of the requests.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Admission policies")]
pub struct Policies {
    /// A file or directory with admission policies, their bindings, webhook configurations and the objects they depend
    /// on: params, `ConfigMaps`, Namespaces, RBAC objects; `-` for standard input; may be repeated. A policy replaces
    /// the policy of the cluster with the same name
    #[arg(long, value_name = "PATH")]
    pub policies: Vec<String>,
    /// Leave out the admission policies and webhook configurations of the cluster
    #[arg(long)]
    pub no_policies: bool,
    /// The name of the user that sends the requests, as policies see it
    #[arg(long, value_name = "NAME")]
    pub request_user: Option<String>,
    /// A group of that user; may be repeated. As with impersonation, `system:authenticated` and the groups of service
    /// accounts are added
    #[arg(long, value_name = "GROUP", requires = "request_user")]
    pub request_group: Vec<String>,
    /// The authorizer that policies query: `allow`, `deny`, or a YAML file with rules [default: the RBAC objects of
    /// --policies or of the cluster, for --request-user]
    #[arg(long, value_name = "allow|deny|FILE", value_parser = authorizer)]
    pub authorizer: Option<Rules>,
    /// Without --request-user, report "cannot tell" when a policy depends on the user, instead of skipping the policy
    #[arg(long)]
    pub strict_policies: bool,
}

impl Policies {
    /// Returns true if any of the flags is given.
    pub fn are_given(&self) -> bool {
        let Self { policies, no_policies, request_user, request_group, authorizer, strict_policies } = self;
        let lists = policies.is_empty() && request_group.is_empty();
        !lists || *no_policies || request_user.is_some() || authorizer.is_some() || *strict_policies
    }

    /// Returns the options of admission policies.
    pub fn options(&self) -> admission::PolicyOptions {
        let user = self.request_user.clone();
        admission::PolicyOptions {
            paths: self.policies.clone(),
            skips_cluster: self.no_policies,
            requests: RequestOptions {
                user: user.map(|username| UserInfo::authenticated(username, self.request_group.clone())),
                authorizer: self.authorizer.clone(),
                strict: self.strict_policies,
            },
        }
    }
}

/// Parses `allow`, `deny` or the name of a file with rules.
pub fn authorizer(given: &str) -> Result<Rules, ArgumentError> {
    match given {
        "allow" => Ok(Rules::allow_all()),
        "deny" => Ok(Rules::deny_all()),
        path => {
            let bytes = read_any(Path::new(path))
                .map_err(|error| ArgumentError::Unreadable(path.to_owned(), error.to_string()))?;
            let document = text::yaml::read(&bytes).map_err(|error| ArgumentError::Yaml(path.to_owned(), error))?;
            Rules::read(&document).map_err(|error| ArgumentError::Rules(path.to_owned(), error))
        }
    }
}
