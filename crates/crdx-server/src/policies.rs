//! Admission policies: evaluates `ValidatingAdmissionPolicies` and `MutatingAdmissionPolicies`
//! (`k8s.io/apiserver/pkg/admission/plugin/policy`).
//!
//! The functions are pure: they read a [`request::Request`] and a [`request::Cluster`].
//!
//! ```text
//! model, selector        policies and bindings as typed values
//! environment, compile   the CEL environments of a policy, and its expressions compiled
//! dependencies           inputs of expressions that may be unknown
//! expression             one expression compiled
//! standalone             an expression outside of a stored policy
//! validation             validation of policies and bindings
//! type_checking          the warnings in `status.typeChecking`
//! source                 the policies of a server, compiled, with their bindings
//! matching, params       which policies and bindings apply to a request, and with which params
//! evaluate               expressions, their variables and budgets, match conditions
//! validating, mutating   decisions and changes, in the server's order
//! findings               warnings, changes and audit annotations
//! authorizer, rbac       answers to `authorizer`: rules of the caller, RBAC objects
//! knowledge              the unknown parts of a cluster, and policies that depend on them
//! denial                 the parts of the Status of a refusal
//! ```

pub mod authorizer;
pub mod compile;
pub mod denial;
pub mod dependencies;
pub mod environment;
pub mod evaluate;
pub mod expression;
pub mod findings;
pub mod knowledge;
pub mod matching;
pub mod model;
pub mod mutating;
pub mod params;
pub mod rbac;
pub mod request;
pub mod selector;
pub mod source;
pub mod standalone;
pub mod type_checking;
pub mod validating;
pub mod validation;

/// The group of policies and bindings.
pub const GROUP: &str = "admissionregistration.k8s.io";

/// The server's error for a policy without `matchConstraints`.
const NO_CONSTRAINTS: &str = "policy contained no match constraints, a required field";
