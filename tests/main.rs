//! All tests of the program as a whole.
mod facts_regexp;
