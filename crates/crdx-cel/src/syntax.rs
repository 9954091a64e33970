//! Parses expressions like cel-go 0.29: the same trees with the same ids, the same limits and the same error messages.
//!
//! [`parser`] parses a valid source in one pass. If it fails, and with the feature `recovery`, [`recover`] parses the source
//! again with the error recovery of cel-go's generated parser. Both create nodes with [`build`].

mod build;
#[cfg(feature = "recovery")]
mod grammar;
#[cfg(feature = "recovery")]
mod kind_set;
mod lexer;
mod macros;
mod parser;
#[cfg(feature = "recovery")]
mod predict;
#[cfg(feature = "recovery")]
mod recover;
#[cfg(feature = "recovery")]
mod sprintf;
mod token;
mod unescape;
#[cfg(feature = "recovery")]
mod visit;

use super::{
    ast::{Ast, Expr, SourceInfo},
    issues::{Issues, Location},
};
use build::AstBuilder;
pub use build::is_reserved;
pub use macros::{Macro, MacroSet};

/// The maximum length of a source, in code points.
const MAX_CODE_POINTS: usize = 100_000;

/// Options of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// Enables `.?`, `[?]` and `?` in literals.
    pub optional_syntax: bool,
    /// The available macros.
    pub macros: MacroSet,
    /// The version of the parser.
    pub version: ParserVersion,
}

impl ParseOptions {
    /// Every option enabled.
    pub const ALL: Self = Self { optional_syntax: true, macros: MacroSet::ALL, version: ParserVersion::V0_29 };
}

/// The first version of cel-go with a parser that accepts, or reports errors, as this one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParserVersion {
    /// `optMap` and `optFlatMap` use the nodes of their target twice (Kubernetes 1.30 and 1.31).
    V0_17,
    /// They copy them. Has no backquotes, and replaces surrogates in string literals (Kubernetes 1.32).
    V0_22,
    /// Has backquotes, as in ``labels.`a-b` ``, but does not support them (Kubernetes 1.33 to 1.36).
    V0_23,
    /// Supports names of fields in backquotes.
    V0_29,
}

impl ParserVersion {
    /// Returns true if a macro may use the nodes of its target twice, without a copy.
    pub fn reuses_targets(self) -> bool {
        self < Self::V0_22
    }

    /// Returns true if backquotes are in the grammar.
    pub fn has_backquotes(self) -> bool {
        self >= Self::V0_23
    }

    /// Returns true if a name in backquotes is a field.
    pub fn supports_backquotes(self) -> bool {
        self >= Self::V0_29
    }
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
    let mut builder = AstBuilder::new(source, options);
    let expr = match parser::parse(&mut builder) {
        Ok(expr) => Some(expr),
        Err(_) if builder.too_large => None,
        Err(invalid) => explain(&mut builder, invalid),
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

/// Reports the errors of an invalid source as cel-go does.
#[cfg(feature = "recovery")]
fn explain(builder: &mut AstBuilder<'_>, _: parser::InvalidSource) -> Option<Expr> {
    *builder = AstBuilder::new(builder.source, builder.options);
    let tree = recover::recover(builder);
    tree.and_then(|tree| visit::visit(builder, &tree)).ok()
}

/// Reports the first error of an invalid source.
#[cfg(not(feature = "recovery"))]
fn explain(builder: &mut AstBuilder<'_>, invalid: parser::InvalidSource) -> Option<Expr> {
    match invalid {
        parser::InvalidSource::TooDeep => {
            builder
                .issues
                .report_at(Location::NONE, format!("expression recursion limit exceeded: {}", parser::MAX_DEPTH));
        }
        parser::InvalidSource::At(offset) => {
            let message = match builder.source.chars().nth(offset as usize) {
                Some(first) => format!("Syntax error: unexpected {first:?}"),
                None => "Syntax error: unexpected end of the expression".to_owned(),
            };
            builder.issues.report(offset as i32, message);
        }
    }
    None
}

#[cfg(test)]
mod tests;
