//! All tests of the program as a whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod architecture;
mod facts_cel_parse;
mod facts_regexp;
mod facts_yaml;
