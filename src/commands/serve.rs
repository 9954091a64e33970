//! `serve`: serves the simulated API over HTTP. [`load`] reads the initial objects, [`sessions`] starts servers on request.

pub mod args;
mod load;
mod sessions;

use super::{load_profile, terminal};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::served;
use crdx_files::open::private_log;
use crdx_input::profile::Profile;
use crdx_output::printable::complain;
use crdx_serve::{Opened, Running, Runtime, ServeOptions, StateFile, Webhooks};
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{AdmissionPlugins, Namespaces, SYSTEM_NAMESPACES, ServerBuilder, ServerSettings, UserInfo};
use crdx_value::field::names;
use crdx_value::release::Release;
use std::io::{self, Write as _};
use std::sync::Arc;

/// Runs the command.
pub fn run(args: &args::Serve) -> Result<Exit, Error> {
    if args.builtin {
        complain!(
            "note: --builtin serves built-in kinds without controllers: nothing schedules Pods or scales Deployments"
        );
    }
    if args.sessions {
        return sessions::run(args);
    }
    let running = match start(args) {
        Ok(running) => running,
        Err(problems) => {
            for problem in problems {
                complain!("error: {problem}");
            }
            return Ok(Exit::CannotTell);
        }
    };
    let mut text = format!("{}\n", running.url());
    if args.print_kubeconfig {
        text.push_str(&running.kubeconfig());
    }
    let mut out = io::stdout().lock();
    // Clients need the URL, so failing to print it is an error.
    out.write_all(text.as_bytes())?;
    out.flush()?;
    drop(out);
    running.wait();
    Ok(Exit::Accepted)
}

/// Adds the policies and the user that the flags set to the server.
fn with_admission(mut server: ServerBuilder, args: &args::Serve) -> ServerBuilder {
    if args.admission {
        let authorizer = args.authorizer.clone().unwrap_or_else(Rules::allow_all);
        server = server.with_policies(Arc::new(authorizer));
    }
    if (args.admission || args.builtin) && !args.skip_policy_validation {
        server = server.with_policy_validation();
    }
    if let Some(username) = &args.request_user {
        let groups = args.request_group.clone();
        server = server.with_user(UserInfo { username: username.clone(), groups, ..UserInfo::default() });
    }
    server
}

/// The reason why the flags select no namespaces.
#[derive(Debug, thiserror::Error)]
enum NamespacesError {
    #[error("--namespaces {name:?}: {problem}")]
    Name { name: String, problem: String },
    #[error("--namespace-controller needs --builtin or the names of --namespaces")]
    NoNames,
}

/// Returns the rule for namespaces and their names, besides `default`; `None` if neither flags nor built-in kinds need them.
///
/// # Errors
/// Returns an error if a name is invalid, or if there is no namespace for the namespace controller.
fn namespaces(args: &args::Serve) -> Result<Option<(Namespaces, Vec<String>)>, NamespacesError> {
    let names = match &args.namespaces {
        Some(names) => names.clone(),
        None if args.builtin => SYSTEM_NAMESPACES.map(str::to_owned).to_vec(),
        None => Vec::new(),
    };
    if let Some((name, problem)) =
        names.iter().find_map(|name| Some((name, names::dns1123_label(name.as_bytes()).pop()?)))
    {
        return Err(NamespacesError::Name { name: name.clone(), problem });
    }
    match (args.namespace_controller, names.is_empty()) {
        (true, true) => Err(NamespacesError::NoNames),
        (true, false) => Ok(Some((Namespaces::Controlled, names))),
        (false, false) => Ok(Some((Namespaces::Finalized, names))),
        (false, true) => Ok(args.namespaces.is_some().then_some((Namespaces::OnDemand, names))),
    }
}

/// Prints the settings that the server does not follow.
fn warn_of_ignored(settings: &ServerSettings, release: Release, args: &args::Serve) {
    let enabled: Vec<&str> = settings.runtime_config.enabled().collect();
    if !enabled.is_empty() {
        complain!(
            "warning: serve serves no APIs that are disabled by default: --runtime-config has no effect for {}",
            enabled.join(", ")
        );
    }
    for (plugin, directory) in settings.admission.manifest_directories(release).filter(|_| !args.admission) {
        complain!("warning: serve enforces the objects of {plugin} in {directory} only with --admission");
    }
}

fn start(args: &args::Serve) -> Result<Running, Vec<String>> {
    let one = |problem: String| vec![problem];
    let now = terminal::now();
    let (release, settings) = load::settings(args).map_err(|error| one(error.to_string()))?;
    warn_of_ignored(&settings, release, args);
    let plugins = settings.plugins(release, AdmissionPlugins::default()).map_err(|error| one(error.to_string()))?;
    let runtime = Runtime::new().map_err(|error| one(format!("cannot serve: {error}")))?;
    let server = crdx_kinds::builder(release, crdx_serve::seed()).with_compression().with_notifier(runtime.notifier());
    let server = server.created_at(now).with_admission_plugins(plugins.0);
    let configured = served::configure(server, &settings, release);
    let mut server = configured.map_err(|error| one(format!("--admission-control-config-file: {error}")))?;
    if let Some((rule, names)) = namespaces(args).map_err(|error| one(error.to_string()))? {
        server = server.with_namespaces(rule, &names);
    }
    let mut server = with_admission(server, args);
    if args.builtin {
        server = server.with_built_in_kinds().with_content_validation().with_generated_fields();
        server = server.with_pause_before_removal(crdx_serve::PAUSE_BEFORE_REMOVAL);
    }
    let webhooks = args.admission.then(|| {
        let mut webhooks = Webhooks::default();
        for (namespace, name, address) in &args.webhook_services {
            webhooks.add(namespace, name, address.clone());
        }
        webhooks
    });
    let mut options = ServeOptions {
        address: args.address,
        port: args.port,
        allowed_hosts: args.allowed_hosts.clone(),
        read_only: args.read_only,
        webhooks: webhooks.clone(),
        ..ServeOptions::default()
    };
    let server = match &args.state {
        Some(path) => {
            let Opened { server, state, orphans, notes } =
                StateFile::open(path, server).map_err(|error| one(error.to_string()))?;
            for note in notes {
                complain!("warning: {}: {note}", path.display());
            }
            for orphan in orphans {
                complain!("warning: {}: {orphan} is left out: its CRD is missing", path.display());
            }
            options.state = Some(state);
            server
        }
        None => server.build(),
    };
    let server = Arc::new(server);
    if let Some(folder) = args.cluster.profile.first() {
        let profile = Profile::open(folder).map_err(|error| one(error.to_string()))?;
        load_profile::load(&server, &profile, now).map_err(|error| one(error.to_string()))?;
    } else if args.load_from_cluster {
        if args.cluster.is_offline() {
            return Err(one("--load-from-cluster needs the cluster, and --offline forbids it".to_owned()));
        }
        load::cluster(&server, &args.cluster.target(), now).map_err(|error| one(error.to_string()))?;
    }
    load::files(&server, webhooks.as_ref(), args, now)?;
    if let Some(failure) = options.state.as_ref().and_then(|s| s.failure()) {
        return Err(one(format!("{failure}: {}", failure.help())));
    }
    if let Some(path) = &args.record {
        let file = private_log(path);
        options.record = Some(file.map_err(|e| one(format!("cannot record to {}: {e}", path.display())))?);
    }
    crdx_serve::start(runtime, server, options).map_err(|e| one(format!("cannot serve: {e}")))
}
