//! `plugin-manifest/crdx.yaml` keeps krew's rules (its validation, its documentation and what its reviewers ask).

use crdx::text::yaml;
use crdx::value::Value;
use std::collections::BTreeSet;
use std::path::Path;

const PLATFORMS: &[(&str, &str)] = &[
    ("linux", "386"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("windows", "386"),
    ("windows", "amd64"),
    ("windows", "arm64"),
];

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
    // The file is named after it.
    assert_eq!(manifest.str_at(&["metadata", "name"]), Some("crdx"));
    let version = manifest.str_at(&["spec", "version"]).unwrap();
    assert_eq!(version, format!("v{}", env!("CARGO_PKG_VERSION")));
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
fn every_platform_is_known_and_there_once() {
    let manifest = manifest();
    let platforms = manifest.at(&["spec", "platforms"]).and_then(Value::as_array).unwrap();
    let mut seen = BTreeSet::new();
    for platform in platforms {
        assert_eq!(keys(platform), ["bin", "selector", "sha256", "uri"]);
        let labels = platform.at(&["selector", "matchLabels"]).unwrap();
        assert_eq!(keys(labels), ["arch", "os"]);
        let pair = (labels.str_at(&["os"]).unwrap(), labels.str_at(&["arch"]).unwrap());
        assert!(PLATFORMS.contains(&pair), "{pair:?}");
        assert!(seen.insert(pair), "{pair:?} is there twice");
        let uri = platform.str_at(&["uri"]).unwrap();
        assert!(uri.starts_with("https://"));
        assert!([".tar.gz", ".zip"].iter().any(|end| uri.ends_with(end)), "{uri}");
        assert!(uri.contains(&format!("/v{}/", env!("CARGO_PKG_VERSION"))), "{uri}");
        assert!(uri.contains(&format!("{}-{}", pair.0, pair.1)), "{uri}");
        let sum = platform.str_at(&["sha256"]).unwrap();
        assert!(sum.len() == 64 && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{sum}");
        let bin = if pair.0 == "windows" { "kubectl-crdx.exe" } else { "kubectl-crdx" };
        assert_eq!(platform.str_at(&["bin"]), Some(bin));
    }
    for os in ["linux", "darwin", "windows"] {
        for arch in ["amd64", "arm64"] {
            assert!(seen.contains(&(os, arch)), "{os}/{arch} is missing");
        }
    }
}
