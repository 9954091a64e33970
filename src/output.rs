//! Formats results as text. Functions here take plain data and return text; they make no decisions and open no files.

pub mod bounded_table;
pub mod cel;
mod columns;
pub mod cost;
pub mod coverage;
pub mod custom_columns;
pub mod difference;
pub mod example;
pub mod excerpt;
pub mod explain;
pub mod go_template;
pub mod html;
pub mod json_schema;
mod markup;
pub mod objects;
pub mod paint;
pub mod policy_rehearsal;
pub mod printable;
pub mod rehearsal;
pub mod report;
pub mod sort;
pub mod suites;
pub mod table;
pub mod tabs;

pub use columns::{Cell, Column, Columns, TableStyle};
pub use paint::Paint;
