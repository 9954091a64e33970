//! All tests of the program as a whole.

mod architecture;
mod facts_regexp;
