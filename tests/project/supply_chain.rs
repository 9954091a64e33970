//! The dependencies: their licences, duplicate versions and sources are those that `deny.toml` allows.
//!
//! cargo-deny reads the same file, but is not part of a Rust toolchain: these tests need cargo only, so that every
//! `cargo test` runs them. The release workflow runs cargo-deny, for advisories, which need a public database.

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Parses a TOML file of the repository.
fn read(name: &str) -> Value {
    toml::from_str(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()).unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no {key} in {value}")).iter()
}

/// The packages of Cargo.lock other than those of the workspace.
fn locked() -> Vec<Value> {
    let lock = read("Cargo.lock");
    let packages: Vec<Value> = each(&lock, "package").filter(|p| p.get("source").is_some()).cloned().collect();
    assert!(packages.len() > 100);
    packages
}

#[test]
fn all_sources_are_the_public_registry() {
    let wrong = |package: &&Value| {
        let source = text(package, "source");
        let is_registry = source.starts_with("registry+") && source.ends_with("/rust-lang/crates.io-index");
        !is_registry || text(package, "checksum").len() != 64
    };
    let packages = locked();
    assert_eq!(packages.iter().filter(wrong).collect::<Vec<_>>(), Vec::<&Value>::new());
    assert_eq!(
        (text(&read("deny.toml")["sources"], "unknown-git"), &read("deny.toml")["sources"]["allow-git"]),
        ("deny", &Value::Null)
    );
}

/// If a crate has several versions, `deny.toml` must list the older ones, and no others.
#[test]
fn duplicate_versions_have_a_reason() {
    let mut versions: BTreeMap<String, Vec<Vec<u64>>> = BTreeMap::new();
    for package in locked() {
        let version = text(&package, "version").split(['.', '+', '-']).map_while(|n| n.parse().ok()).collect();
        versions.entry(text(&package, "name").to_owned()).or_default().push(version);
    }
    let mut older = BTreeSet::new();
    for (name, mut versions) in versions {
        versions.sort();
        versions.pop();
        let dotted = |v: &[u64]| v.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        older.extend(versions.iter().map(|version| format!("{name}@{}", dotted(version))));
    }
    let rules = read("deny.toml");
    assert!(each(&rules["bans"], "skip").all(|skip| !text(skip, "reason").is_empty()));
    let listed: BTreeSet<String> = each(&rules["bans"], "skip").map(|skip| text(skip, "crate").to_owned()).collect();
    assert_eq!(older, listed, "left: Cargo.lock, right: deny.toml");
}

/// The metadata of the packages in Cargo.lock. Crates that are missing on this machine, because they are not built here,
/// are downloaded.
fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = |more: &[&str]| {
        let mut command = Command::new(&cargo);
        command.args(["metadata", "--format-version", "1", "--locked", "--all-features"]).args(more);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
    };
    let mut output = run(&["--offline"]);
    if !output.status.success() {
        output = run(&[]);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns true if a licence expression is satisfied by the allowed licences.
fn is_satisfied(expression: &str, allowed: &[LicenseReq]) -> bool {
    // Old crates separate the licences by a slash.
    let parsed = Expression::parse_mode(expression, ParseMode::LAX);
    parsed.is_ok_and(|parsed| parsed.evaluate(|wanted| allowed.contains(wanted)))
}

fn requirements<'a>(names: impl Iterator<Item = &'a Value>) -> Vec<LicenseReq> {
    let one = |name: &Value| {
        let expression = Expression::parse(name.as_str().unwrap()).unwrap();
        expression.requirements().next().unwrap().req.clone()
    };
    names.map(one).collect()
}

#[test]
fn licences_are_allowed() {
    let rules = &read("deny.toml")["licenses"];
    let allowed = requirements(each(rules, "allow"));
    let exceptions: BTreeMap<&str, Vec<LicenseReq>> =
        each(rules, "exceptions").map(|e| (text(e, "crate"), requirements(each(e, "allow")))).collect();
    let metadata = metadata();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for package in each(&metadata, "packages") {
        let (name, license) = (text(package, "name"), text(package, "license"));
        seen.insert(name);
        let own = [allowed.as_slice(), exceptions.get(name).map_or(&[], Vec::as_slice)].concat();
        if !is_satisfied(license, &own) {
            wrong.push(format!("{name}: {license:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(seen.len() > 100);
    let unused: Vec<_> = exceptions.keys().filter(|name| !seen.contains(**name)).collect();
    assert!(unused.is_empty(), "exceptions for crates that are not in Cargo.lock: {unused:?}");
}

#[test]
fn a_licence_expression_is_evaluated() {
    let allowed = requirements([Value::from("MIT"), Value::from("Apache-2.0 WITH LLVM-exception")].iter());
    for (expression, satisfied) in [
        ("MIT", true),
        ("MIT/GPL-3.0", true),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only AND MIT", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("(MIT OR Zlib) AND ISC", false),
        ("", false),
        ("my own", false),
    ] {
        assert_eq!(is_satisfied(expression, &allowed), satisfied, "{expression}");
    }
}
