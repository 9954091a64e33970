//! The `kubectl-crdx` program.

fn main() {}
