//! Replays the recorded exchanges of `tests/conformance/` against `crdx_server::server::Server`, one test per file, or records
//! them anew from the real server whose URL is in `CRDX_RECORD` (`tests/apiserver/README.md`).

use crate::conformance::exchange::{Client, Http, InProcess};
use crate::conformance::scenario::Scenario;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// One test for each recording.
macro_rules! recordings {
    ($($name:ident),* $(,)?) => {
        const RECORDINGS: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*
    };
}

recordings![
    apply,
    cel,
    crd,
    discovery,
    list,
    managers,
    metadata,
    patch,
    prune_default,
    ratchet,
    scale_table_select,
    store,
    text,
    update,
    validation,
    versions,
    watch,
];

#[test]
fn every_recording_has_a_test() {
    let files: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .filter(|name| !name.starts_with("score"))
        .collect();
    assert_eq!(files, RECORDINGS.iter().map(|name| name.replace('_', "-")).collect());
}

fn replay(name: &str) {
    // Recordings share the real server.
    static RECORDING: Mutex<()> = Mutex::new(());
    let record = std::env::var("CRDX_RECORD").ok();
    let _alone = record.is_some().then(|| RECORDING.lock().unwrap_or_else(PoisonError::into_inner));
    let file = folder().join(format!("{}.json", name.replace('_', "-")));
    let mut scenarios: Vec<Value> = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let (mut count, mut differing) = (0, Vec::new());
    for scenario in &mut scenarios {
        let name = scenario["name"].as_str().unwrap().to_owned();
        let mut client: Box<dyn Client> = match &record {
            Some(url) => Box::new(Http::new(url)),
            None => Box::new(InProcess::default()),
        };
        let mut run = Scenario::new(client.as_mut());
        for (number, exchange) in scenario["exchanges"].as_array_mut().unwrap().iter_mut().enumerate() {
            let got = run.send(&exchange["request"]);
            count += 1;
            if record.is_some() {
                exchange["response"] = got;
            } else if got != exchange["response"] {
                differing.push(format!(
                    "{name} / {number}\n  request {}\n  real {}\n  here {got}",
                    exchange["request"], exchange["response"]
                ));
            }
        }
        if record.is_some() {
            run.clean_up();
        }
    }
    if record.is_some() {
        fs::write(&file, serde_json::to_string_pretty(&scenarios).unwrap() + "\n").unwrap();
    }
    assert!(count > 0, "{} has no exchanges", file.display());
    assert!(
        differing.is_empty(),
        "{} of {count} answers differ from the real server's:\n{}",
        differing.len(),
        differing.join("\n")
    );
}
