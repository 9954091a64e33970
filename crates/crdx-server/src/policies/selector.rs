//! Label selectors of objects: `matchLabels` and `matchExpressions` (`metav1.LabelSelectorAsSelector`,
//! `labels.NewRequirement`).

use crdx_value::GoError;
use crdx_value::field::{BadValue, FieldError, FieldPath, names};
use crdx_value::release::Release;
use crdx_value::{Map, Value, quote};

/// A label selector.
#[derive(Clone, Debug)]
pub struct LabelSelector {
    expressions: Vec<SelectorRequirement>,
    /// The release, which determines the validation of keys and values.
    release: Release,
}

/// One requirement of a selector.
#[derive(Clone, Debug)]
struct SelectorRequirement {
    key: String,
    operator: String,
    values: Vec<String>,
}

/// The operator of an entry of `matchLabels`.
const EQUALS: &str = "=";

impl LabelSelector {
    /// Reads the selector of a decoded object.
    pub fn read(v: &Value, release: Release) -> Self {
        let labels = v.get("matchLabels").and_then(Value::as_object).into_iter().flatten().map(|(key, value)| {
            let values = vec![value.as_str().unwrap_or_default().to_owned()];
            SelectorRequirement { key: key.clone(), operator: EQUALS.to_owned(), values }
        });
        let expressions = v.get("matchExpressions").and_then(Value::as_array).unwrap_or_default().iter().map(|v| {
            let text = |key: &str| v.str_at(&[key]).unwrap_or_default().to_owned();
            let values = v.get("values").and_then(Value::as_array).unwrap_or_default();
            SelectorRequirement {
                key: text("key"),
                operator: text("operator"),
                values: values.iter().map(|v| v.as_str().unwrap_or_default().to_owned()).collect(),
            }
        });
        Self { expressions: labels.chain(expressions).collect(), release }
    }

    /// Returns true if the selector matches everything.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// Returns the label keys of the selector.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.expressions.iter().map(|expression| expression.key.as_str())
    }

    /// Validates the selector.
    ///
    /// # Errors
    /// Returns the server's message for the first invalid requirement.
    pub fn check(&self) -> Result<(), GoError> {
        self.expressions.iter().try_for_each(|expression| expression.check(self.release))
    }

    /// Returns true if the selector matches these labels. The selector must be valid ([`Self::check`]).
    pub fn matches(&self, labels: Option<&Map>) -> bool {
        self.expressions.iter().all(|expression| expression.matches(labels))
    }

    /// Returns true if the selector matches an object for which only the labels with the keys `known` are known.
    ///
    /// # Errors
    /// Returns the keys of the unknown labels on which the result depends.
    pub(crate) fn matches_known(&self, labels: Option<&Map>, known: &[&str]) -> Result<bool, Vec<String>> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            self.expressions.iter().partition(|expression| known.contains(&expression.key.as_str()));
        let selected = known.iter().all(|expression| expression.matches(labels));
        if !selected || unknown.is_empty() {
            return Ok(selected);
        }
        Err(unknown.into_iter().map(|expression| expression.key.clone()).collect())
    }
}

impl SelectorRequirement {
    fn matches(&self, labels: Option<&Map>) -> bool {
        let value = labels.and_then(|labels| labels.get(&self.key)).and_then(Value::as_str);
        let is_listed = |value: &str| self.values.iter().any(|wanted| wanted == value);
        match self.operator.as_str() {
            EQUALS | "In" => value.is_some_and(is_listed),
            "NotIn" => value.is_none_or(|value| !is_listed(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }

    fn check(&self, release: Release) -> Result<(), GoError> {
        if !matches!(self.operator.as_str(), EQUALS | "In" | "NotIn" | "Exists" | "DoesNotExist") {
            return Err(format!("{} is not a valid label selector operator", quote::go_quote(&self.operator)).into());
        }
        let mut errors = Vec::new();
        let problems = names::qualified_name(&self.key, release);
        if !problems.is_empty() {
            errors.push(FieldError::invalid(&FieldPath::new("key"), self.key.as_str(), problems.join("; ")));
        }
        let path = FieldPath::new("values");
        let list = || BadValue::strings(self.values.iter().map(String::as_str), release);
        match self.operator.as_str() {
            "In" | "NotIn" if self.values.is_empty() => {
                let detail = "for 'in', 'notin' operators, values set can't be empty";
                errors.push(FieldError::invalid(&path, BadValue::strings([], release), detail));
            }
            "Exists" | "DoesNotExist" if !self.values.is_empty() => {
                let detail = "values set must be empty for exists and does not exist";
                errors.push(FieldError::invalid(&path, list(), detail));
            }
            _ => {}
        }
        for (index, value) in self.values.iter().enumerate() {
            let problems = names::label_value(value, release);
            if !problems.is_empty() {
                let path = path.index(index);
                errors.push(FieldError::invalid(&path.key(&self.key), value.as_str(), problems.join("; ")));
            }
        }
        match &*errors {
            [] => Ok(()),
            [one] => Err(one.to_string().into()),
            many => Err(format!("[{}]", many.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn selector(text: &str) -> LabelSelector {
        LabelSelector::read(&read(text.as_bytes()).unwrap(), Release::NEWEST)
    }

    #[test]
    fn requirements_select_by_labels() {
        let labels = read(br#"{"a":"1","b":"x"}"#).unwrap();
        let selects = |text: &str| selector(text).matches(labels.as_object());
        assert!(selects("{}"));
        assert!(selects(r#"{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"c","operator":"DoesNotExist"}]}"#));
        assert!(selects(r#"{"matchExpressions":[{"key":"c","operator":"NotIn","values":["1"]}]}"#));
        assert!(!selects(r#"{"matchExpressions":[{"key":"b","operator":"In","values":["y"]}]}"#));
    }

    #[test]
    fn labels_that_are_not_known_leave_it_open() {
        let labels = read(br#"{"name":"a"}"#).unwrap();
        let selects = |text: &str| selector(text).matches_known(labels.as_object(), &["name"]);
        assert_eq!(selects(r#"{"matchLabels":{"name":"a"}}"#), Ok(true));
        assert_eq!(selects(r#"{"matchLabels":{"name":"b","env":"x"}}"#), Ok(false));
        assert_eq!(selects(r#"{"matchLabels":{"name":"a","env":"x"}}"#), Err(vec!["env".to_owned()]));
    }

    #[test]
    fn wrong_requirements_are_named_in_the_servers_words() {
        let check = |text: &str| selector(text).check().unwrap_err();
        assert_eq!(
            check(r#"{"matchExpressions":[{"key":"a","operator":"Near"}]}"#),
            "\"Near\" is not a valid label selector operator".into()
        );
        assert_eq!(
            check(r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty".into()
        );
        assert!(
            check(r#"{"matchLabels":{"a":"no spaces"}}"#)
                .as_str()
                .starts_with("values[0][a]: Invalid value: \"no spaces\": ")
        );
    }
}
