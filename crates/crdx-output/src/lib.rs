//! Formats results as text. Functions here take plain data and return text; they make no decisions and open no files.

pub mod bounded;
pub mod bounded_table;
mod columns;
pub mod cost;
mod custom_columns;
pub mod difference;
pub mod excerpt;
mod go_template;
pub mod html;
mod markup;
pub mod objects;
pub mod paint;
pub mod printable;
pub mod report;
pub mod secrets;
pub mod sort;
pub mod table;
mod tabs;

pub use columns::{Cell, Column, Columns, TableStyle};
pub use paint::Paint;
