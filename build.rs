//! Compresses the large data files that the program embeds; `src/embedded.rs` decompresses them when they are needed.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// The files, relative to `src`.
const FILES: [&str; 4] = ["builtin/types.txt", "crd/openapi/builtin.json", "crd/openapi/own.json", "value/unicode.txt"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    println!("cargo::rerun-if-changed=build.rs");
    for file in FILES {
        let source = Path::new("src").join(file);
        println!("cargo::rerun-if-changed={}", source.display());
        let text = fs::read(&source)?;
        let target = Path::new(&folder).join(file.replace('/', "-"));
        fs::write(target, lz4_flex::block::compress_prepend_size(&text))?;
    }
    Ok(())
}
