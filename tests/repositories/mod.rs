//! Other people's repositories: their layout, their CRDs and their test suites.

mod examples;
mod layout;
