//! The rules of this repository: layers, dependencies, manifests, scripts, and the transcripts and pictures in its documents.

mod architecture;
mod cycles;
mod errors;
mod field_paths;
mod integrations;
mod kinds;
mod pictures;
mod plugin_manifest;
mod releases;
mod supply_chain;
mod transcripts;
mod type_names;
