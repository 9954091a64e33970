//! `plugin-manifest/crdx.yaml` satisfies krew's validation, documentation and review guidelines.

use crdx_text::yaml;
use crdx_value::Value;
use std::collections::BTreeSet;
use std::path::Path;

const PLATFORMS: &[(&str, &str)] = &[
    ("linux", "386"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("darwin", "386"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("windows", "386"),
    ("windows", "amd64"),
    ("windows", "arm64"),
];

/// The placeholder that a release replaces.
const HOME: &str = "https://github.com/OWNER/kubectl-crdx";

fn manifest() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin-manifest/crdx.yaml");
    yaml::read(&std::fs::read(file).unwrap()).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn it_names_the_plugin() {
    let manifest = manifest();
    assert_eq!(keys(&manifest), ["apiVersion", "kind", "metadata", "spec"]);
    assert_eq!(manifest.str_at(&["apiVersion"]), Some("krew.googlecontainertools.github.com/v1alpha2"));
    assert_eq!(manifest.str_at(&["kind"]), Some("Plugin"));
    // The name of the file is that of the plugin.
    assert_eq!(manifest.str_at(&["metadata", "name"]), Some("crdx"));
    let version = manifest.str_at(&["spec", "version"]).unwrap();
    assert_eq!(version, format!("v{}", env!("CARGO_PKG_VERSION")));
    assert!(is_semver(version), "{version}");
    assert!(is_safe_name("crdx"));
    assert_eq!(manifest.str_at(&["spec", "homepage"]), Some(HOME));
}

/// krew's rule for names: word characters and dashes, except names reserved by Windows.
fn is_safe_name(name: &str) -> bool {
    let kept = ["CON", "PRN", "AUX", "NUL"].map(str::to_owned).into_iter();
    let ports = ["COM", "LPT"].iter().flat_map(|port| (1..=9).map(move |n| format!("{port}{n}")));
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        && !kept.chain(ports).any(|word| word.eq_ignore_ascii_case(name))
}

/// Returns true for `v1.2.3` with an optional pre-release or build suffix.
fn is_semver(version: &str) -> bool {
    let Some(rest) = version.strip_prefix('v') else { return false };
    let core = rest.split(['-', '+']).next().unwrap();
    let numbers: Vec<&str> = core.split('.').collect();
    let number =
        |n: &&str| n.bytes().all(|b| b.is_ascii_digit()) && !n.is_empty() && (*n == "0" || !n.starts_with('0'));
    let more = rest
        .split(['-', '+', '.'])
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
    numbers.len() == 3 && numbers.iter().all(number) && more
}

#[test]
fn the_name_rules_equal_krews() {
    assert!(is_semver("v1.0.0-rc.1+b5") && !is_semver("1.0.0") && !is_semver("v1.0") && !is_semver("v01.0.0"));
    assert!(is_safe_name("a_b-1") && !is_safe_name("a.b") && !is_safe_name("") && !is_safe_name("com1"));
}

#[test]
fn it_describes_the_plugin_briefly() {
    let manifest = manifest();
    let short = manifest.str_at(&["spec", "shortDescription"]).unwrap();
    assert!((1..=50).contains(&short.chars().count()), "{short}");
    assert!(!short.contains('\n') && !short.ends_with('.'), "{short}");
    let description = manifest.str_at(&["spec", "description"]).unwrap();
    assert!(description.lines().all(|line| line.chars().count() <= 80));
    assert!(!description.contains("--"), "flags belong into the help");
}

#[test]
fn every_platform_is_known_and_unique() {
    let manifest = manifest();
    let platforms = manifest.at(&["spec", "platforms"]).and_then(Value::as_array).unwrap();
    let mut seen = BTreeSet::new();
    for platform in platforms {
        assert_eq!(keys(platform), ["bin", "files", "selector", "sha256", "uri"]);
        let labels = platform.at(&["selector", "matchLabels"]).unwrap();
        assert_eq!(keys(labels), ["arch", "os"]);
        let pair = (labels.str_at(&["os"]).unwrap(), labels.str_at(&["arch"]).unwrap());
        assert!(PLATFORMS.contains(&pair), "{pair:?}");
        assert!(seen.insert(pair), "{pair:?} is there twice");
        let uri = platform.str_at(&["uri"]).unwrap();
        assert!(uri.starts_with(&format!("{HOME}/releases/download/")), "{uri}");
        assert!(uri.starts_with("https://"));
        assert!(uri.ends_with(".tar.gz"), "{uri}");
        assert!(uri.contains(&format!("/v{}/", env!("CARGO_PKG_VERSION"))), "{uri}");
        assert!(uri.contains(&format!("{}-{}", pair.0, pair.1)), "{uri}");
        let sum = platform.str_at(&["sha256"]).unwrap();
        assert!(sum.len() == 64 && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{sum}");
        let bin = if pair.0 == "windows" { "kubectl-crdx.exe" } else { "kubectl-crdx" };
        assert_eq!(platform.str_at(&["bin"]), Some(bin));
        // The files that scripts/release.sh puts into the archive, including the licence.
        let files = platform.at(&["files"]).and_then(Value::as_array).unwrap();
        let from: Vec<_> = files.iter().map(|file| file.str_at(&["from"]).unwrap()).collect();
        let unix = [bin, "kubectl_complete-crdx", "LICENSE"];
        let windows = [bin, "kubectl_complete-crdx.cmd", "LICENSE"];
        assert_eq!(from, if pair.0 == "windows" { windows } else { unix });
        assert!(files.iter().all(|file| file.str_at(&["to"]) == Some(".")));
    }
    for os in ["linux", "darwin", "windows"] {
        for arch in ["amd64", "arm64"] {
            assert!(seen.contains(&(os, arch)), "{os}/{arch} is missing");
        }
    }
}

/// krew-release-bot fills in the tag and the checksums of `.krew.yaml`.
#[test]
fn the_template_of_the_release_bot_is_the_manifest() {
    let read = |file: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let without_comments =
        |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    let filled = without_comments(&read(".krew.yaml")).replace("{{ .TagName }}", &version);
    let sum = "\n    sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"";
    let filled = filled.replace("{{addURIAndSha \"", "uri: ").replace("\" .TagName }}", sum);
    assert_eq!(filled, without_comments(&read("plugin-manifest/crdx.yaml")).replace("OWNER", owner()));
}

/// The owner in Cargo.toml: `scripts/owner.sh` replaces the placeholder everywhere but in `plugin-manifest`.
fn owner() -> &'static str {
    env!("CARGO_PKG_REPOSITORY").rsplit('/').nth(1).unwrap()
}
