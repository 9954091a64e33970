//! `test`: runs suites from files. [`crdx::suites`] runs the cases; [`find`] and [`load`] read files, [`plan`](mod@plan)
//! decides what runs on which server.

pub mod find;
pub mod load;
pub mod plan;
pub mod run;
