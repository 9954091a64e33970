//! Measures how many tests of cel-spec, how many recorded answers of an API server, and how many rules of real CRDs `cel`,
//! `kube-cel` and `crdx-cel` answer correctly.
//!
//! usage: cargo run -- CEL-SPEC CORPUS [-v]
//!
//! CEL-SPEC is a checkout of github.com/google/cel-spec, CORPUS a folder of projects with CRDs (`PROJECT/crds`) and objects
//! (`PROJECT/objects`, `PROJECT/invalid`). With `-v`, each wrong answer is printed.

mod answer;
mod corpus;
mod engines;
mod facts;
mod score;
mod spec;
mod textproto;

use std::path::Path;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let verbose = words.iter().any(|word| word == "-v");
    let folders: Vec<&Path> = words.iter().filter(|word| *word != "-v").map(Path::new).collect();
    let [spec, corpus] = *folders else {
        eprintln!("usage: cargo run -- CEL-SPEC CORPUS [-v]");
        std::process::exit(2);
    };
    // A panic of an engine is a wrong answer.
    std::panic::set_hook(Box::new(|_| {}));
    let (spec, corpus) = (spec.to_owned(), corpus.to_owned());
    let all = move || {
        spec::compare(&spec.join("tests/simple/testdata"), verbose);
        facts::compare(verbose);
        corpus::compare(&corpus, verbose);
    };
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(all).expect("a thread");
    if thread.join().is_err() {
        eprintln!("error: the input is not what is expected");
        std::process::exit(2);
    }
}
