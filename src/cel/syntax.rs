//! Source to syntax tree, as cel-go 0.29 parses it: same trees with the same ids, same limits, same error texts.
//!
//! A valid source is read by [`parser`] in one pass. If that fails, the source is read again by [`recover`], which follows
//! the generated parser's steps; its tree and those of valid sources are made by the same [`build`].

mod build;
mod grammar;
mod lexer;
mod macros;
mod parser;
mod predict;
mod recover;
mod token;
mod unescape;
mod visit;

use super::{
    ast::{Ast, SourceInfo},
    issues::{Issues, Location},
};
use build::Builder;
pub use build::is_reserved;
pub use macros::{Macro, MacroSet};

/// The longest source, in code points.
const MAX_CODE_POINTS: usize = 100_000;

/// Extensions of the core language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// `.?`, `[?]` and `?` in literals.
    pub optional_syntax: bool,
    /// The macros there are.
    pub macros: MacroSet,
}

/// Parses an expression.
pub fn parse(source: &str, options: ParseOptions) -> Result<Ast, Issues> {
    if source.len() > MAX_CODE_POINTS {
        let size = source.chars().count();
        if size > MAX_CODE_POINTS {
            let mut issues = Issues::new(source);
            let message = format!("expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}");
            issues.report_at(Location::NONE, message);
            return Err(issues);
        }
    }
    let mut builder = Builder::new(source, options);
    let expr = match parser::parse(&mut builder) {
        Ok(expr) => Some(expr),
        Err(parser::GiveUp) if builder.too_large => None,
        Err(parser::GiveUp) => {
            builder = Builder::new(source, options);
            let tree = recover::recover(&mut builder);
            tree.and_then(|tree| visit::visit(&mut builder, &tree)).ok()
        }
    };
    if builder.too_large {
        builder.issues.report_at(Location::NONE, "expression too large");
    }
    match expr {
        Some(expr) if builder.issues.is_empty() => {
            let source_info = SourceInfo { source: source.to_owned(), offsets: builder.offsets };
            Ok(Ast { expr, source_info })
        }
        _ => Err(builder.issues),
    }
}

#[cfg(test)]
mod tests;
