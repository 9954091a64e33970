//! Compresses the large data files of this crate.

use std::io;

fn main() -> io::Result<()> {
    crdx_embedded::compress(&["src/crd/openapi/common.json", "src/crd/openapi/own.json"])
}
