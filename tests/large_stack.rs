//! A thread with the stack of the program's threads: inputs may be deeply nested, and unoptimized code needs more.

use crdx_value::STACK_SIZE;
use std::thread;

pub fn on_large_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK_SIZE).spawn(test).unwrap().join().unwrap();
}
