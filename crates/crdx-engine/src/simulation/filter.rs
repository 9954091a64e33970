//! Selects the objects to simulate: `--skip` and `--selector`.

use crdx_server::server::LabelSelector;
use crdx_value::{Value, group_version};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A kind, in any group or in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindPattern {
    kind: String,
    group: Option<String>,
}

/// The error for a text that does not name a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it as KIND or KIND.GROUP, such as Deployment or Issuer.cert-manager.io")]
pub struct NoKind;

impl FromStr for KindPattern {
    type Err = NoKind;

    fn from_str(text: &str) -> Result<Self, NoKind> {
        let (kind, group) = text.split_once('.').map_or((text, None), |(kind, group)| (kind, Some(group)));
        if kind.is_empty() || kind.contains('/') {
            return Err(NoKind);
        }
        Ok(Self { kind: kind.to_owned(), group: group.map(str::to_owned) })
    }
}

impl KindPattern {
    fn matches(&self, object: &Value) -> bool {
        let text = |key| object.str_at(&[key]).unwrap_or_default();
        let group = group_version::group(text("apiVersion"));
        self.kind.eq_ignore_ascii_case(text("kind")) && self.group.as_ref().is_none_or(|wanted| wanted == group)
    }
}

/// Selects objects by kind and labels.
#[derive(Debug, Default)]
pub struct Filter {
    skipped_kinds: Vec<KindPattern>,
    selector: Option<LabelSelector>,
    /// The number of objects that did not match the selector.
    unselected: AtomicUsize,
}

/// The reason why an object is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Its kind is skipped.
    Kind,
    /// Its labels do not match.
    Labels,
}

impl Filter {
    /// Creates a filter that selects the objects whose kinds are not in `skip` and whose labels match the selector.
    pub fn new(skipped_kinds: &[KindPattern], selector: Option<&LabelSelector>) -> Self {
        let selector = selector.cloned().filter(|selector| !selector.is_empty());
        Self { skipped_kinds: skipped_kinds.to_vec(), selector, unselected: AtomicUsize::new(0) }
    }

    /// Returns the reason to skip an object, if there is one. Objects that do not match the selector are counted.
    pub fn skip_reason(&self, object: &Value) -> Option<SkipReason> {
        if self.skipped_kinds.iter().any(|kind| kind.matches(object)) {
            return Some(SkipReason::Kind);
        }
        if self.selector.as_ref().is_none_or(|selector| selector.selects(object)) {
            return None;
        }
        self.unselected.fetch_add(1, Ordering::Relaxed);
        Some(SkipReason::Labels)
    }

    /// Returns a note with the number of objects that did not match the selector, if there are any.
    pub fn message(&self) -> Option<String> {
        match self.unselected.load(Ordering::Relaxed) {
            0 => None,
            1 => Some("1 object does not match the selector and was left out".to_owned()),
            n => Some(format!("{n} objects do not match the selector and were left out")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    fn object(text: &str) -> Value {
        yaml::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_kind_is_skipped_in_any_group_or_in_one() {
        let issuer = object("{apiVersion: cert-manager.io/v1, kind: Issuer}");
        let pod = object("{apiVersion: v1, kind: Pod}");
        let skips = |pattern: &str, object: &Value| pattern.parse::<KindPattern>().unwrap().matches(object);
        assert!(skips("Issuer", &issuer) && skips("Issuer.cert-manager.io", &issuer) && skips("issuer", &issuer));
        assert!(!skips("Issuer.example.com", &issuer) && !skips("Issue", &issuer));
        assert!(skips("Pod", &pod) && skips("Pod.", &pod) && !skips("Issuer.", &issuer));
        assert_eq!("".parse::<KindPattern>(), Err(NoKind));
        assert_eq!("apps/v1".parse::<KindPattern>(), Err(NoKind));
    }

    #[test]
    fn labels_are_selected_as_by_kubectl() {
        let a = object("{apiVersion: v1, kind: A, metadata: {labels: {app: a, example.com/tier: web}}}");
        let without = object("{apiVersion: v1, kind: A}");
        let selects = |text: &str, object: &Value| {
            let selector = LabelSelector::parse(text, crdx_value::release::Release::NEWEST).unwrap();
            Filter::new(&[], Some(&selector)).skip_reason(object).is_none()
        };
        assert!(selects("app=a", &a) && selects("app in (a, b),example.com/tier", &a) && selects("app!=b", &a));
        assert!(!selects("app", &without) && selects("!app", &without) && selects("app notin (a)", &without));
        assert!(selects("", &without));
        assert!(LabelSelector::parse("a in b", crdx_value::release::Release::NEWEST).is_err());
        let filter = Filter::new(
            &["A".parse().unwrap()],
            Some(&LabelSelector::parse("app=a", crdx_value::release::Release::NEWEST).unwrap()),
        );
        assert_eq!(filter.skip_reason(&a), Some(SkipReason::Kind));
        assert_eq!(filter.message(), None);
    }
}
