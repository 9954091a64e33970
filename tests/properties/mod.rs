//! Properties that hold for any input.

mod builtin;
mod cel;
mod cel_types;
mod fuzz_corpus;
mod patterns;
mod protobuf;
mod text;
mod validation;
