//! Running expressions: a checked tree is planned once into a [`Program`], which any number of threads run at the same time.
//!
//! Follows cel-go's `interpreter` as Kubernetes sets it up: constant lists, maps and conversions are computed when the program is
//! planned, constant patterns compiled, `in` a constant list is a set; `&&`, `||` and `?:` do not evaluate more than they need to; every
//! step's cost is counted and the run ends once the limit is exceeded. Costs are the server's to the unit: what is counted where
//! follows `interpreter/runtimecost.go`, with the prices in the library's table.
//!
//! Surprises: the branches of `?:` are not charged for the variable they begin with, `or()` and `orValue()` are free, and so is `in` a
//! constant list.

mod attribute;
mod call;
mod constant;
mod cost;
mod fold;
mod guard;
mod node;
mod plan;
mod run;

use super::{
    ast::CheckedAst,
    env::Env,
    value::{Error, Value},
};
use node::Node;

/// The most a single evaluation may cost (`celconfig.PerCallLimit`).
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// An expression ready to run.
#[derive(Debug)]
pub struct Program {
    root: Node,
    /// Places for variables and what loops hold.
    slots: usize,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The value, or why there is none.
    pub result: Result<Value<'a>, Error>,
    /// What it cost.
    pub cost: u64,
}

impl Program {
    /// Plans an expression checked in `env`. The error is what makes the server refuse to instantiate a program: a constant conversion
    /// that fails, a constant pattern that is none.
    pub fn plan(checked: &CheckedAst, env: &Env) -> Result<Self, String> {
        plan::plan(checked, env)
    }

    /// Runs with the values of the environment's variables, in their order; one that could not be read is an error where it is used.
    pub fn run<'a>(&'a self, variables: Vec<Result<Value<'a>, Error>>, limit: u64) -> Outcome<'a> {
        run::run(&self.root, self.slots, variables, limit)
    }
}
