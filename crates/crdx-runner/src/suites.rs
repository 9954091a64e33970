//! Test suites in files: [`find`] and [`load`] read them, [`plan`](mod@plan) decides what runs on which server, [`round_trips`] does so for CRDs without a suite, [`run`](mod@run)
//! runs the cases on threads, and [`report`] formats the results. [`crdx_engine::suites`] runs a case.

pub mod find;
pub mod load;
pub mod plan;
pub mod report;
pub mod round_trips;
pub mod run;
pub mod suite_run;
