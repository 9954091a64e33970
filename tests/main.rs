//! All tests of the program as a whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod architecture;
mod broken_pipe;
mod cli;
mod conformance;
mod cycles;
mod differential;
mod exchange;
mod facts_builtin;
mod facts_cel_cost;
mod facts_cel_functions;
mod facts_cel_parse;
mod facts_cel_runs;
mod facts_formats;
mod facts_regexp;
mod facts_time_zones;
mod facts_yaml;
mod formats;
mod integrations;
mod kubectl_get;
mod live;
mod long_names;
mod pages;
mod plugin_manifest;
mod properties;
mod properties_builtin;
mod properties_cel;
mod properties_cel_types;
mod properties_patterns;
mod properties_protobuf;
mod repository;
mod schemas;
mod serve;
mod text;
mod transcripts;
mod watch;
