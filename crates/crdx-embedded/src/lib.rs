//! Large data files that a program embeds in compressed form.
//!
//! The build script of a crate calls [`compress`]; the crate then names a file with [`embedded!`]. A file is
//! decompressed each time it is read, so its reader keeps what it needs.

use lz4_flex::block;
use std::path::Path;
use std::{env, fs, io};

/// A file compressed with LZ4.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// The length of the file, then the file in LZ4 block format.
    compressed: &'static [u8],
}

impl Embedded {
    /// A file that [`compress`] wrote. Use [`embedded!`], which knows the folder of these files.
    pub const fn new(compressed: &'static [u8]) -> Self {
        Self { compressed }
    }
    /// The content of the file.
    pub fn text(self) -> String {
        // Neither step can fail, because `compress` produced the bytes.
        let bytes = block::decompress_size_prepended(self.compressed).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// The file with this name, without its folder, that the build script of the crate compressed.
#[macro_export]
macro_rules! embedded {
    ($name:literal) => {
        $crate::Embedded::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}

/// Compresses files of a crate, for its build script. Paths are relative to the crate; two files must not have the
/// same name.
///
/// # Errors
/// A file cannot be read or written.
pub fn compress(files: &[&str]) -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    for file in files {
        println!("cargo::rerun-if-changed={file}");
        let source = Path::new(file);
        let name = source.file_name().ok_or_else(|| io::Error::other(format!("{file} has no file name")))?;
        write(name.as_ref(), &fs::read(source)?)?;
    }
    Ok(())
}

/// Compresses a text that the build script of a crate wrote, under this name.
///
/// # Errors
/// The file cannot be written.
pub fn compress_text(name: &str, text: &str) -> io::Result<()> {
    write(name.as_ref(), text.as_bytes())
}

fn write(name: &Path, content: &[u8]) -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&folder).join(name), block::compress_prepend_size(content))
}
