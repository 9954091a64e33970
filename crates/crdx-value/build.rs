//! Compresses the large data files of this crate.

use std::io;

fn main() -> io::Result<()> {
    crdx_embedded::compress(&["src/unicode.txt"])
}
