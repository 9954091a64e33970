//! `kube-apiserver` for the tests of operators: the simulated server with TLS, client certificates, namespaces, admission
//! policies and webhooks. Every start begins with an empty state.

use super::error::EnvtestError;
use super::flags::{FlagError, Flags};
use super::folder;
use crate::commands::flags::server::{self, minor, port_range};
use crate::commands::flags::{admission_configuration, served};
use crate::commands::{load_profile, terminal};
use crdx_cluster::Connection;
use crdx_engine::simulation::server_settings::ConfiguredServer;
use crdx_files::open::{created, read_any};
use crdx_kinds::kubernetes_service;
use crdx_output::printable::complain;
use crdx_serve::tls::{self, Tls};
use crdx_serve::{Authentication, Running, Runtime, ServeOptions, Webhooks};
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{AdmissionConfiguration, AdmissionPlugins, RuntimeConfig, ServerSettings};
use crdx_server::server::{Namespaces, SYSTEM_NAMESPACES};
use crdx_types::service_families::{ServiceFamilies, ServiceRange};
use crdx_value::release::{FeatureGates, Release};
use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The flags with an effect. envtest searches the help text for `--insecure-port`, which no supported version has.
const HELP: &str = "Usage:
  kube-apiserver [flags]

Serves the simulated API for the tests of operators (kubectl crdx envtest): without controllers, and without
authorization of users. The Kubernetes version is that of the folder, such as 1.33.0-linux-amd64.

      --admission-control-config-file string  The configuration of admission plugins.
      --allow-privileged                  Allow privileged containers. (default false)
      --anonymous-auth                    Answer requests without credentials as system:anonymous. (default true)
      --authorization-mode strings        AlwaysAllow lets system:anonymous do everything; all other modes let every other user.
      --bind-address ip                   The address; only the loopback is served. (default 127.0.0.1)
      --cert-dir string                   The directory of apiserver.crt and apiserver.key, which are made if missing.
      --client-ca-file string             The authorities whose client certificates are accepted: user = CN, groups = O.
      --default-not-ready-toleration-seconds int
                                          How long Pods stay on a Node that is not ready. (default 300)
      --default-unreachable-toleration-seconds int
                                          How long Pods stay on a Node that is unreachable. (default 300)
      --disable-admission-plugins strings Default admission plugins to disable.
      --emulated-version string           The version to emulate, such as 1.36.
      --enable-admission-plugins strings  Admission plugins to enable besides the default ones.
      --feature-gates strings             Feature gates to set, such as StatefulSetRecreateStrategy=true.
      --profile string                    The profile of a cluster (kubectl crdx fetch --profile): its settings and objects.
      --runtime-config mapStringBool      APIs to disable, such as batch/v1=false.
      --secure-port int                   The port. (default 6443)
      --service-account-issuer strings    The issuer and the default audience of service account tokens.
      --service-cluster-ip-range strings  Ranges of cluster IPs, at most one of each family. (default 10.0.0.0/24)
      --service-node-port-range portRange Node ports of Services. (default 30000-32767)
      --tls-cert-file string              The certificate of the server.
      --tls-private-key-file string       Its key.
      --token-auth-file string            Bearer tokens: lines of token,user,uid,\"group1,group2\".
  -v, --v int                             From 1 on, list the flags that have no effect.
      --version                           Print the version.
";

const CLUSTER_IP_RANGES: &str = "service-cluster-ip-range";
const PROFILE: &str = "profile";
const NODE_PORTS: &str = "service-node-port-range";
const NOT_READY_SECONDS: &str = "default-not-ready-toleration-seconds";
const UNREACHABLE_SECONDS: &str = "default-unreachable-toleration-seconds";

/// The flags of [`HELP`].
const KNOWN: [&str; 24] = [
    "admission-control-config-file",
    "allow-privileged",
    "anonymous-auth",
    "authorization-mode",
    "bind-address",
    "cert-dir",
    "client-ca-file",
    NOT_READY_SECONDS,
    UNREACHABLE_SECONDS,
    "disable-admission-plugins",
    "emulated-version",
    "enable-admission-plugins",
    "feature-gates",
    PROFILE,
    "runtime-config",
    "secure-port",
    "service-account-issuer",
    CLUSTER_IP_RANGES,
    NODE_PORTS,
    "tls-cert-file",
    "tls-private-key-file",
    "token-auth-file",
    "v",
    "version",
];

/// The source of the server's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Certificate {
    /// In these files, the second with the key.
    Files(PathBuf, PathBuf),
    /// In `apiserver.crt` and `apiserver.key` of a directory, in which it is generated if it is missing.
    Directory(PathBuf),
    /// A new certificate, kept in memory.
    Made,
}

/// The configuration that the flags select.
#[derive(Debug)]
struct Config {
    release: Release,
    plugins: AdmissionPlugins,
    address: IpAddr,
    port: u16,
    certificate: Certificate,
    client_ca: Option<PathBuf>,
    tokens: Option<PathBuf>,
    anonymous: bool,
    /// The issuer of service account tokens.
    issuer: Option<String>,
    /// True if anonymous requests are authorized like others (`--authorization-mode=AlwaysAllow`).
    always_allow: bool,
    checks_namespaces: bool,
    settings: ServerSettings,
    /// The profile with settings of the server and objects to load.
    profile: Option<Connection>,
    /// Lines for standard error.
    notes: Vec<String>,
}

impl Config {
    fn read(flags: &Flags, release: Release) -> Result<Self, EnvtestError> {
        let mut notes = Vec::new();
        let path = |name: &str| flags.last(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let certificate = match (path("tls-cert-file"), path("tls-private-key-file"), path("cert-dir")) {
            (Some(certificate), Some(key), _) => Certificate::Files(certificate, key),
            (Some(_), None, _) => return Err(EnvtestError::Needs("tls-cert-file", "tls-private-key-file")),
            (None, Some(_), _) => return Err(EnvtestError::Needs("tls-private-key-file", "tls-cert-file")),
            (None, None, Some(dir)) => Certificate::Directory(dir),
            (None, None, None) => Certificate::Made,
        };
        let port = flags.number("secure-port", 6443_u16)?;
        if port == 0 {
            return Err(EnvtestError::NoPort);
        }
        let profile = path(PROFILE).map(|folder| server::connection_to_profile(&folder)).transpose()?;
        let mut settings = settings(flags)?;
        if let Some(profile) = &profile {
            settings = with_profile(settings, profile, flags, release)?;
        }
        let configured = ConfiguredServer::new(&settings, release)?;
        let (plugins, _) = settings.plugins(configured.release, AdmissionPlugins::default())?;
        let unsimulated = configured.unsimulated.flags().into_iter();
        notes.extend(unsimulated.map(|flag| format!("the effect of {flag} on some objects is not simulated")));
        let verbose = flags.number("v", 0_u8)? > 0;
        if verbose {
            let others = flags.others(&KNOWN).into_iter().map(|name| format!("--{name} has no effect"));
            notes.extend(others);
        }
        let address = address(flags, &mut notes)?;
        Ok(Self {
            release: configured.release,
            plugins,
            address,
            port,
            certificate,
            client_ca: path("client-ca-file"),
            tokens: path("token-auth-file"),
            issuer: flags.items("service-account-issuer").next().map(str::to_owned),
            anonymous: flags.is_on("anonymous-auth", true)?,
            always_allow: flags.items("authorization-mode").any(|mode| mode == "AlwaysAllow"),
            checks_namespaces: !flags.items("disable-admission-plugins").any(|plugin| plugin == "NamespaceLifecycle"),
            settings,
            profile,
            notes,
        })
    }
}

/// The settings of the server.
fn settings(flags: &Flags) -> Result<ServerSettings, EnvtestError> {
    let list = |name: &str| flags.items(name).map(str::to_owned).collect::<Vec<String>>();
    let mut feature_gates = FeatureGates::default();
    for item in flags.items("feature-gates") {
        feature_gates.read(item)?;
    }
    let version = flags.last("emulated-version").map(minor).transpose();
    let enabled_plugins = list("enable-admission-plugins");
    let admission = match flags.last("admission-control-config-file").filter(|path| !path.is_empty()) {
        Some(path) => admission_configuration::read(Path::new(path), &enabled_plugins)?,
        None => AdmissionConfiguration::default(),
    };
    let mut runtime_config = RuntimeConfig::default();
    for item in flags.items("runtime-config") {
        runtime_config.read(item)?;
    }
    let seconds = |name: &str| flags.last(name).map(|_| flags.number(name, 0_i64)).transpose();
    Ok(ServerSettings {
        emulated_version: version.map_err(|_| FlagError::value("emulated-version", "", "is not 1.N"))?,
        feature_gates,
        enabled_plugins,
        disabled_plugins: list("disable-admission-plugins"),
        admission,
        allow_privileged: Some(flags.is_on("allow-privileged", false)?),
        runtime_config,
        node_ports: node_ports(flags)?,
        service_ranges: service_ranges(flags)?,
        not_ready_seconds: seconds(NOT_READY_SECONDS)?,
        unreachable_seconds: seconds(UNREACHABLE_SECONDS)?,
    })
}

/// Returns the settings with those of a profile, which flags replace.
fn with_profile(
    mut own: ServerSettings,
    connection: &Connection,
    flags: &Flags,
    release: Release,
) -> Result<ServerSettings, EnvtestError> {
    let is_given = |name: &str| flags.last(name).is_some();
    if !is_given("allow-privileged") {
        own.allow_privileged = None;
    }
    let ranges = connection.profile().map(load_profile::service_ranges).transpose()?.unwrap_or_default();
    if !is_given(CLUSTER_IP_RANGES) && !ranges.is_empty() {
        own.service_ranges = ranges;
    }
    let simulated = crdx_cluster::simulated(Ok(connection)).release;
    if simulated != release {
        complain!(
            "note: the profile is of Kubernetes {simulated}, this server of Kubernetes {release}: kubectl crdx envtest --kubernetes-version {simulated} writes the other one"
        );
    }
    let settings = server::of_cluster(&own, release, Ok(connection));
    settings.map(|(_, settings)| settings).map_err(|error| EnvtestError::ProfileSettings(error.to_string()))
}

/// The node ports of Services, unless they are the default ones.
fn node_ports(flags: &Flags) -> Result<Option<(u16, u16)>, FlagError> {
    let Some(text) = flags.last(NODE_PORTS).filter(|text| !text.is_empty()) else { return Ok(None) };
    let range = port_range(text).map_err(|_| FlagError::value(NODE_PORTS, text, "is not FIRST-LAST"))?;
    Ok(Some(range))
}

/// The ranges of cluster IPs.
fn service_ranges(flags: &Flags) -> Result<Vec<ServiceRange>, FlagError> {
    let given = flags.last(CLUSTER_IP_RANGES).filter(|ranges| !ranges.is_empty()).unwrap_or("10.0.0.0/24");
    let ranges: Option<Vec<ServiceRange>> = given.split(',').map(|range| ServiceRange::parse(range.trim())).collect();
    ranges
        .filter(|ranges| ServiceFamilies::of(ranges.iter().map(|range| range.family())).is_some())
        .ok_or_else(|| FlagError::value(CLUSTER_IP_RANGES, given, "is not a CIDR, or one of each address family"))
}

/// The address of `--bind-address`; that of the loopback for all addresses of this machine.
fn address(flags: &Flags, notes: &mut Vec<String>) -> Result<IpAddr, EnvtestError> {
    let Some(text) = flags.last("bind-address") else { return Ok(Ipv4Addr::LOCALHOST.into()) };
    let address: IpAddr = text.parse().map_err(|_| FlagError::value("bind-address", text, "is not an IP address"))?;
    if !address.is_unspecified() {
        return Ok(address);
    }
    let loopback: IpAddr = if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
    notes.push(format!("--bind-address: the server listens on the loopback interface only: {loopback}"));
    Ok(loopback)
}

/// Runs the program until the process ends. `program` is the first word of the command line.
///
/// # Errors
/// Returns an error if the flags, the files or the port cannot be used.
pub fn run(flags: &Flags, program: &Path) -> Result<(), EnvtestError> {
    if flags.last("help").or_else(|| flags.last("h")).is_some() {
        print!("{HELP}");
        return Ok(());
    }
    let release = folder::release(program)?.unwrap_or(Release::NEWEST);
    if flags.is_on("version", false)? {
        println!("Kubernetes v{}+crdx", release.full_version());
        return Ok(());
    }
    let config = Config::read(flags, release)?;
    for note in &config.notes {
        complain!("note: {note}");
    }
    let running = start(&config)?;
    complain!(
        "kubectl crdx: serving {} as Kubernetes {}, without controllers and authorization",
        running.url(),
        config.release
    );
    running.wait();
    Ok(())
}

fn start(config: &Config) -> Result<Running, EnvtestError> {
    let now = terminal::now();
    let client_ca = config.client_ca.as_deref().map(read).transpose()?;
    let tokens = config.tokens.as_deref().map(read).transpose()?;
    let tokens = tokens.as_deref().map(String::from_utf8_lossy);
    let authentication = Authentication::new(client_ca.as_deref(), tokens.as_deref(), config.anonymous, config.release);
    let authentication = authentication.map_err(EnvtestError::Credentials)?;
    let rule = if config.checks_namespaces { Namespaces::Finalized } else { Namespaces::Unchecked };
    let runtime = Runtime::new().map_err(EnvtestError::Serve)?;
    let mut server = crdx_kinds::builder(config.release, crdx_serve::seed())
        .with_compression()
        .with_notifier(runtime.notifier())
        .created_at(now)
        .with_namespaces(rule, &SYSTEM_NAMESPACES.map(str::to_owned))
        .with_policies(Arc::new(Rules::allow_all()))
        .with_policy_validation()
        .with_admission_plugins(config.plugins.clone())
        .with_reviews(authentication.tokens().clone())
        .with_built_in_kinds()
        .with_content_validation()
        .with_generated_fields()
        .with_pause_before_removal(crdx_serve::PAUSE_BEFORE_REMOVAL);
    server = served::configure(server, &config.settings, config.release)?;
    if let Some(issuer) = &config.issuer {
        server = server.with_token_issuer(issuer);
    }
    if !config.always_allow {
        server = server.with_authorization();
    }
    let server = server.build();
    let address = config.settings.service_ranges.first().map(|range| range.address(1).to_string()).unwrap_or_default();
    kubernetes_service::publish(&server, &address, config.port, now);
    if let Some(profile) = config.profile.as_ref().and_then(Connection::profile) {
        load_profile::load(&server, profile, now)?;
    }
    let (certificate, key) = certificate(config)?;
    let options = ServeOptions {
        address: config.address,
        port: config.port,
        webhooks: Some(Webhooks::default()),
        tls: Some(Tls::new(&certificate, &key)?),
        authentication: Some(authentication),
        pause_before_commit: crdx_serve::PAUSE_BEFORE_COMMIT,
        ..ServeOptions::default()
    };
    crdx_serve::start(runtime, Arc::new(server), options).map_err(EnvtestError::Serve)
}

/// The certificate of the server and its key, in PEM.
fn certificate(config: &Config) -> Result<(Vec<u8>, Vec<u8>), EnvtestError> {
    let made = || tls::self_signed(&[config.address]).map_err(EnvtestError::NoCertificate);
    match &config.certificate {
        Certificate::Files(certificate, key) => Ok((read(certificate)?, read(key)?)),
        Certificate::Directory(dir) => {
            let (certificate, key) = (dir.join("apiserver.crt"), dir.join("apiserver.key"));
            if certificate.exists() || key.exists() {
                return Ok((read(&certificate)?, read(&key)?));
            }
            let (certificate_pem, key_pem) = made()?;
            let written = fs::create_dir_all(dir)
                .and_then(|()| fs::write(&certificate, &certificate_pem))
                .and_then(|()| created(&key)?.write_all(key_pem.as_bytes()));
            written.map_err(|error| EnvtestError::io("cannot write the certificate to", dir, error))?;
            Ok((certificate_pem.into_bytes(), key_pem.into_bytes()))
        }
        Certificate::Made => made().map(|(certificate, key)| (certificate.into_bytes(), key.into_bytes())),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EnvtestError> {
    read_any(path).map_err(|error| EnvtestError::io("cannot read", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(line: &str) -> Result<Config, EnvtestError> {
        let words: Vec<String> = line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Config::read(&Flags::parse(&words).unwrap(), Release::NEWEST)
    }

    #[test]
    fn the_flags_of_envtest_are_understood() {
        // As controller-runtime 0.25 starts it.
        let line = "--allow-privileged=true --authorization-mode=RBAC --bind-address=127.0.0.1 --cert-dir=/tmp/d \
            --client-ca-file=/tmp/d/client-cert-auth-ca.crt --disable-admission-plugins=ServiceAccount \
            --etcd-servers=http://127.0.0.1:2379 --secure-port=34567 --service-account-issuer=https://127.0.0.1:34567/ \
            --service-account-key-file=/tmp/d/sa-signer.crt --service-cluster-ip-range=10.0.0.0/24 -v=1";
        let config = config(line).unwrap();
        assert_eq!((config.port, config.address.to_string().as_str()), (34567, "127.0.0.1"));
        assert_eq!(config.certificate, Certificate::Directory("/tmp/d".into()));
        assert_eq!(config.client_ca, Some("/tmp/d/client-cert-auth-ca.crt".into()));
        assert!(config.anonymous && !config.always_allow && config.checks_namespaces);
        assert_eq!(config.notes, ["--etcd-servers has no effect", "--service-account-key-file has no effect"]);
    }

    #[test]
    fn wrong_flags_are_named() {
        for (line, problem) in [
            ("--secure-port=x", "--secure-port: \"x\" is not a number in its range"),
            ("--secure-port=0", "--secure-port: 0 is not a port: give one from 1 to 65535"),
            ("--tls-cert-file=a", "--tls-cert-file needs --tls-private-key-file"),
            ("--tls-private-key-file=a", "--tls-private-key-file needs --tls-cert-file"),
            (
                "--profile=/none",
                "cannot read /none/profile.yaml: No such file or directory (os error 2)\n\
                help: write one with kubectl crdx fetch --from-cluster --profile FOLDER",
            ),
            ("--bind-address=localhost", "--bind-address: \"localhost\" is not an IP address"),
            (
                "--feature-gates=A=maybe",
                "--feature-gates: invalid value of A=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
            ("--anonymous-auth=2", "--anonymous-auth: \"2\" is neither true nor false"),
        ] {
            assert_eq!(config(line).unwrap_err().to_string(), problem, "{line}");
        }
        assert_eq!(config("--bind-address=0.0.0.0").unwrap().address.to_string(), "127.0.0.1");
        assert_eq!(config("--bind-address=::").unwrap().address.to_string(), "::1");
    }

    #[test]
    fn gates_and_plugins_have_an_effect() {
        use crdx_value::release::Gate;
        let config = |line: &str| config(line).map_err(|error| error.to_string());
        let on = config("--feature-gates=StatefulSetRecreateStrategy=true,HPAScaleToZero=false").unwrap().release;
        assert!(on.enables(Gate::StatefulSetRecreateStrategy) && !on.enables(Gate::HPAScaleToZero));
        let older = config("--emulated-version=1.36").unwrap().release;
        assert_eq!(older.emulated().to_string(), "1.36");
        assert_eq!(
            config("--feature-gates=Other=true").unwrap_err(),
            "--feature-gates: unrecognized feature gate: Other"
        );
        assert_eq!(
            config("--enable-admission-plugins=Other").unwrap_err(),
            "--enable-admission-plugins plugin \"Other\" is unknown"
        );
        let noted = config("--feature-gates=DefaultPodSysctls=true").unwrap().notes;
        assert_eq!(noted, ["the effect of --feature-gates DefaultPodSysctls=true on some objects is not simulated"]);
    }

    #[test]
    fn a_certificate_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let config = config(&format!("--cert-dir={}", dir.path().join("certs").display())).unwrap();
        let made = certificate(&config).unwrap();
        assert_eq!(certificate(&config).unwrap(), made);
        fs::remove_file(dir.path().join("certs/apiserver.key")).unwrap();
        assert!(certificate(&config).unwrap_err().to_string().starts_with("cannot read "));
    }

    #[test]
    fn every_known_flag_is_documented() {
        for flag in KNOWN {
            let documented = HELP.lines().any(|line| line.contains(&format!("--{flag} ")));
            assert!(documented, "{flag}");
        }
        assert!(!HELP.contains("--insecure-port"));
    }
}
