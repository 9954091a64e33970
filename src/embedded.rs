//! The large data files of the program. `build.rs` compresses them; a file is decompressed each time it is read, so its
//! reader keeps what it needs.

use lz4_flex::block;

/// A file compressed with LZ4.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// The length of the file, then the file in LZ4 block format.
    compressed: &'static [u8],
}

macro_rules! embedded {
    ($name:literal) => {
        Embedded { compressed: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)) }
    };
}

/// The table of built-in kinds and their types.
pub const TYPES: Embedded = embedded!("builtin-types.txt");
/// The parts that the `OpenAPI` documents of all CRDs share.
pub const OPENAPI_BUILTIN: Embedded = embedded!("crd-openapi-builtin.json");
/// The `OpenAPI` documents of a server without CRDs.
pub const OPENAPI_OWN: Embedded = embedded!("crd-openapi-own.json");
/// Go's Unicode tables.
pub const UNICODE: Embedded = embedded!("value-unicode.txt");

impl Embedded {
    /// The content of the file.
    pub fn text(self) -> String {
        // Neither step can fail, because `build.rs` produced the bytes.
        let bytes = block::decompress_size_prepended(self.compressed).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_file_equals_its_source() {
        let files = [
            (TYPES, "builtin/types.txt"),
            (OPENAPI_BUILTIN, "crd/openapi/builtin.json"),
            (OPENAPI_OWN, "crd/openapi/own.json"),
            (UNICODE, "value/unicode.txt"),
        ];
        for (file, path) in files {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
            assert!(file.text() == fs::read_to_string(source).unwrap(), "{path}");
            assert!(file.compressed.len() * 3 < file.text().len() * 2, "{path} is not compressed");
        }
    }
}
