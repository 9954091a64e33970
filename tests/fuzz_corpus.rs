//! The checks of the fuzz targets (`fuzz/checks`), run on their corpora (`fuzz/corpus`).

#[path = "../fuzz/checks/builtin_decode.rs"]
mod builtin_decode;
#[path = "../fuzz/checks/cel_run.rs"]
mod cel_run;
#[path = "../fuzz/checks/cel_syntax.rs"]
mod cel_syntax;
#[path = "../fuzz/checks/json_read.rs"]
mod json_read;
#[path = "../fuzz/checks/jsonpath.rs"]
mod jsonpath;
#[path = "../fuzz/checks/lsp.rs"]
mod lsp;
#[path = "../fuzz/checks/policies.rs"]
mod policies;
#[path = "../fuzz/checks/regexp.rs"]
mod regexp;
#[path = "../fuzz/checks/requests.rs"]
mod requests;
#[path = "../fuzz/checks/suites.rs"]
mod suites;
#[path = "../fuzz/checks/yaml_read.rs"]
mod yaml_read;

use std::fs;
use std::path::Path;

/// Runs a check on every file of its corpus.
fn run(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5, "{target} has a corpus");
    for file in files {
        println!("{}", file.display());
        check(&fs::read(file).unwrap());
    }
}

macro_rules! corpora {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            run(stringify!($target), $target::check);
        })*

        #[test]
        fn every_target_has_a_corpus() {
            let mut targets: Vec<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".rs").to_owned())
                .collect();
            targets.sort();
            assert_eq!(targets, [$(stringify!($target)),*]);
        }
    };
}

corpora! { builtin_decode cel_run cel_syntax json_read jsonpath lsp policies regexp requests suites yaml_read }
