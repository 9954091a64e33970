//! `postBuild` of a `Kustomization` of Flux: `${VARIABLE}` in what kustomize makes, with the operations that Flux documents
//! (`fluxcd/pkg/envsubst`).

use std::collections::{BTreeMap, BTreeSet};

/// The annotation or label of objects that are left as they are.
const DISABLED: &str = "kustomize.toolkit.fluxcd.io/substitute: disabled";

/// The variables of a `Kustomization`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    pub values: BTreeMap<String, String>,
    /// The objects with more variables that are not known, such as `Secret cluster-secrets`.
    pub unknown: BTreeSet<String>,
}

/// A variable whose value is not known, and the objects that may have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable {name} of postBuild is not known: it may be in the {}", .objects.join(", "))]
pub struct UnknownVariable {
    pub name: String,
    pub objects: Vec<String>,
}

impl Variables {
    /// Replaces the variables in the text of a document. A variable that is nowhere is empty, as for Flux; if some of them are not
    /// known, its text is left.
    ///
    /// # Errors
    /// A variable may have a value that is not known.
    pub fn apply(&self, text: &str) -> Result<String, UnknownVariable> {
        // Flux replaces nothing without variables.
        let has_variables = !self.values.is_empty() || !self.unknown.is_empty();
        if !has_variables || !text.contains("${") || text.contains(DISABLED) {
            return Ok(text.to_owned());
        }
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, found) = rest.split_at_checked(at).unwrap_or((rest, ""));
            result.push_str(before);
            if let Some(escaped) = found.strip_prefix("$${") {
                result.push_str("${");
                rest = escaped;
            } else if let Some((expression, after)) = expression(found) {
                result.push_str(&self.value(&expression)?);
                rest = after;
            } else {
                result.push('$');
                rest = found.strip_prefix('$').unwrap_or_default();
            }
        }
        result.push_str(rest);
        Ok(result)
    }

    fn value(&self, expression: &Expression<'_>) -> Result<String, UnknownVariable> {
        let value = self.values.get(expression.name);
        if value.is_none() && !self.unknown.is_empty() {
            let objects = self.unknown.iter().cloned().collect();
            return Err(UnknownVariable { name: expression.name.to_owned(), objects });
        }
        let default = || self.apply(expression.argument);
        let value = value.map(String::as_str);
        match (expression.operation, value) {
            ("-" | "=", None) | (":-" | ":=", None | Some("")) | ("+", Some(_)) => default(),
            (":+", Some(value)) if !value.is_empty() => default(),
            ("+" | ":+", _) => Ok(String::new()),
            _ => Ok(value.unwrap_or_default().to_owned()),
        }
    }
}

/// `${name}`, or with an operation such as `:=` and its argument.
struct Expression<'a> {
    name: &'a str,
    operation: &'a str,
    argument: &'a str,
}

/// Reads the expression at the beginning of a text, and returns what follows it. Operations on strings, such as `${name,,}`, are left
/// as they are.
fn expression(text: &str) -> Option<(Expression<'_>, &str)> {
    let inner = text.strip_prefix("${")?;
    let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = inner.split_at_checked(length)?;
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if let Some(after) = rest.strip_prefix('}') {
        return Some((Expression { name, operation: "", argument: "" }, after));
    }
    let operation = [":-", ":=", ":+", "-", "=", "+"].into_iter().find(|operation| rest.starts_with(operation))?;
    let argument = rest.get(operation.len()..)?;
    let end = closing_brace(argument)?;
    Some((Expression { name, operation, argument: argument.get(..end)? }, argument.get(end + 1..)?))
}

/// Returns the position of the brace that closes an expression, whose argument may have others. It is on the same line.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return None,
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(unknown: &[&str]) -> Variables {
        let values = [("a", "1"), ("empty", ""), ("nested", "${a}")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Variables { values, unknown: unknown.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn variables_and_defaults_are_replaced() {
        for (text, expected) in [
            ("x: ${a}", "x: 1"),
            ("x: ${a}${a}-$a", "x: 11-$a"),
            ("x: ${none}!", "x: !"),
            ("x: ${none:=2}", "x: 2"),
            ("x: ${none:-${a}}", "x: 1"),
            ("x: ${empty:-3} ${empty-3}.", "x: 3 ."),
            ("x: ${a:+yes} ${none:+yes}.", "x: yes ."),
            ("x: $${a} ${nested}", "x: ${a} ${a}"),
            ("x: ${a,,} ${1} ${}", "x: ${a,,} ${1} ${}"),
            ("x: ${none:=open\n", "x: ${none:=open\n"),
            (
                "kustomize.toolkit.fluxcd.io/substitute: disabled ${a}",
                "kustomize.toolkit.fluxcd.io/substitute: disabled ${a}",
            ),
        ] {
            assert_eq!(variables(&[]).apply(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn nothing_is_replaced_without_variables() {
        assert_eq!(Variables::default().apply("x: ${a}").as_deref(), Ok("x: ${a}"));
    }

    #[test]
    fn a_variable_that_may_be_elsewhere_is_unknown() {
        let some = variables(&["Secret s"]);
        assert_eq!(some.apply("${a} ${empty}").as_deref(), Ok("1 "));
        let error = some.apply("${none:=1}").unwrap_err();
        assert_eq!(error.to_string(), "the variable none of postBuild is not known: it may be in the Secret s");
    }
}
