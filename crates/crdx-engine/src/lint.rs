//! Findings about a CRD or an admission policy beyond the server's verdict.
//!
//! ```text
//! costs     the estimated cost of each CEL rule        bounds   limits that would make a rule cheap enough
//! breaking  changes that break existing objects        convert  converts a v1beta1 CRD to v1
//! advice    the limits, as text                        needs    the releases that an expression needs
//! formats   string formats that some releases ignore   lost_fields  fields that a conversion without a webhook loses
//! conventions  conventions of fields that the server does not check
//! faults    rules, values and defaults that cannot work, with the object or the proof that shows it
//! check     the answer of a separate server to a CRD or a policy, with these findings
//! policies  types and costs of the expressions of admission policies, references of bindings
//! ```

pub mod advice;
pub mod bounds;
pub mod breaking;
#[cfg(feature = "policies")]
pub mod check;
pub mod conventions;
pub mod convert;
pub mod costs;
#[cfg(feature = "policies")]
mod faults;
#[cfg(feature = "policies")]
mod formats;
#[cfg(feature = "policies")]
mod lost_fields;
pub mod needs;
#[cfg(feature = "policies")]
pub mod policies;
