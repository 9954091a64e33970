//! The kind `Preference` of `kubectl.config.k8s.io`.

use super::policy::PluginPolicy;
use crate::fields::{FieldError, Fields};
use crdx_text::documents::Chunks;
use crdx_value::Value;

/// The preferences that concern this program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preference {
    pub policy: PluginPolicy,
    /// `defaults`
    pub defaults: Vec<FlagDefaults>,
    /// The names of `aliases`.
    pub aliases: Vec<String>,
}

/// Defaults of the flags of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagDefaults {
    /// The command, such as `apply` or `create role`
    pub command: String,
    /// The names of flags and their values
    pub options: Vec<(String, String)>,
}

/// Why a text has no valid preferences.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreferenceError {
    /// It cannot be read.
    #[error("no valid preferences: {0}")]
    Field(#[from] FieldError),
    /// No document has the kind.
    #[error("no valid preferences: no document is a Preference of kubectl.config.k8s.io/v1, v1beta1 or v1alpha1")]
    Kind,
    /// The name of a flag has dashes.
    #[error("flag name {0} should be in long form without dashes")]
    Dashes(String),
    /// The name of an alias has other characters.
    #[error("invalid alias name, can only include alphabetical characters")]
    AliasName,
    /// Two aliases have one name.
    #[error("duplicate alias name {0}")]
    DuplicateAlias(String),
}

/// The fields of a version.
struct FieldNames {
    defaults: &'static str,
    options: &'static str,
    /// False in the version that had no policy.
    has_policy: bool,
    /// The names of a field of an entry in the allowlist, the preferred one first.
    entry: &'static [&'static str],
}

const V1: FieldNames = FieldNames { defaults: "defaults", options: "options", has_policy: true, entry: &["command"] };
const V1_BETA1: FieldNames = FieldNames { entry: &["command", "name"], ..V1 };
const V1_ALPHA1: FieldNames = FieldNames { defaults: "overrides", options: "flags", has_policy: false, entry: &[] };

impl Preference {
    /// Decodes the first document with preferences, and returns the paths of unknown fields, which kubectl ignores with a
    /// warning. A text without a document has no preferences.
    pub fn decode(text: &[u8]) -> Result<(Self, Vec<String>), PreferenceError> {
        let mut first = None;
        for chunk in Chunks::new(text) {
            let Ok(contents) = chunk.map_err(|_| ()).and_then(|chunk| chunk.read().map_err(|_| ())) else {
                first.get_or_insert(PreferenceError::Field(FieldError::Syntax { line: None }));
                continue;
            };
            if contents.value.is_null() {
                continue;
            }
            let Some(names) = names(&contents.value) else {
                first.get_or_insert(PreferenceError::Kind);
                continue;
            };
            match Self::from_value(&contents.value, names) {
                Ok(preference) => return Ok((preference, unknown_fields(&contents.value, names))),
                Err(error) => {
                    first.get_or_insert(error.into());
                }
            }
        }
        first.map_or_else(|| Ok((Self::default(), Vec::new())), Err)
    }

    fn from_value(value: &Value, names: &FieldNames) -> Result<Self, FieldError> {
        let fields = Fields::from_value(value)?;
        let defaults = fields.objects(names.defaults)?;
        let aliases = fields.objects("aliases")?;
        Ok(Self {
            policy: if names.has_policy {
                PluginPolicy::decode(&fields, names.entry)?
            } else {
                PluginPolicy::default()
            },
            defaults: defaults.iter().map(|one| FlagDefaults::decode(one, names.options)).collect::<Result<_, _>>()?,
            aliases: aliases
                .iter()
                .map(|alias| Ok(alias.text("name")?.unwrap_or_default()))
                .collect::<Result<_, FieldError>>()?,
        })
    }

    /// Checks what kubectl checks before any command.
    pub fn check(&self) -> Result<(), PreferenceError> {
        for (at, name) in self.aliases.iter().enumerate() {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                return Err(PreferenceError::AliasName);
            }
            if self.aliases.iter().take(at).any(|earlier| earlier == name) {
                return Err(PreferenceError::DuplicateAlias(name.clone()));
            }
        }
        let mut flags = self.defaults.iter().flat_map(|one| &one.options);
        match flags.find(|(name, _)| name.starts_with('-')) {
            Some((name, _)) => Err(PreferenceError::Dashes(name.clone())),
            None => Ok(()),
        }
    }
}

impl FlagDefaults {
    fn decode(fields: &Fields<'_>, options: &str) -> Result<Self, FieldError> {
        let text = |fields: &Fields<'_>, key: &str| Ok(fields.text(key)?.unwrap_or_default());
        let pair = |option: &Fields<'_>| Ok((text(option, "name")?, text(option, "default")?));
        Ok(Self {
            command: text(fields, "command")?,
            options: fields.objects(options)?.iter().map(pair).collect::<Result<_, FieldError>>()?,
        })
    }
}

fn names(document: &Value) -> Option<&'static FieldNames> {
    if document.str_at(&["kind"]) != Some("Preference") {
        return None;
    }
    match document.str_at(&["apiVersion"])?.strip_prefix("kubectl.config.k8s.io/")? {
        "v1" => Some(&V1),
        "v1beta1" => Some(&V1_BETA1),
        "v1alpha1" => Some(&V1_ALPHA1),
        _ => None,
    }
}

/// The paths of fields that the version does not have.
fn unknown_fields(document: &Value, names: &FieldNames) -> Vec<String> {
    let mut top = vec!["apiVersion", "kind", "aliases", names.defaults];
    if names.has_policy {
        top.extend(["credentialPluginPolicy", "credentialPluginAllowlist"]);
    }
    let mut found = Vec::new();
    others("", document, &top, &mut found);
    let option = ["name", "default"];
    let items = |value: &Value, list: &str| value.get(list).and_then(Value::as_array).unwrap_or_default().to_vec();
    let mut within = |list: &str, known: &[&str]| {
        for item in items(document, list) {
            others(&format!("{list}."), &item, known, &mut found);
            for one in items(&item, names.options) {
                others(&format!("{list}.{}.", names.options), &one, &option, &mut found);
            }
        }
    };
    within(names.defaults, &["command", names.options]);
    within("aliases", &["name", "command", "prependArgs", "appendArgs", names.options]);
    if names.has_policy {
        within("credentialPluginAllowlist", names.entry);
    }
    found
}

fn others(prefix: &str, object: &Value, known: &[&str], found: &mut Vec<String>) {
    let keys = object.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    found.extend(keys.filter(|key| !known.contains(key)).map(|key| format!("{prefix}{key}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Result<(Preference, Vec<String>), PreferenceError> {
        Preference::decode(text.as_bytes())
    }

    const DEFAULTS: &str =
        "kind: Preference\ndefaults:\n- command: apply\n  options:\n  - {name: server-side, default: \"true\"}\n";

    #[test]
    fn the_first_document_with_preferences_counts() {
        let text = format!(
            "kind: Preference\napiVersion: kubectl.config.k8s.io/v7\n---\napiVersion: kubectl.config.k8s.io/v1\n{DEFAULTS}"
        );
        let (preference, unknown) = decoded(&text).unwrap();
        let options = vec![("server-side".to_owned(), "true".to_owned())];
        assert_eq!(preference.defaults, [FlagDefaults { command: "apply".to_owned(), options }]);
        assert_eq!(unknown, [""; 0]);
        assert_eq!(decoded("apiVersion: v1\nkind: List\n"), Err(PreferenceError::Kind));
        assert_eq!(decoded("---\n"), Ok((Preference::default(), Vec::new())));
    }

    #[test]
    fn the_first_version_has_other_names_and_no_policy() {
        let text = "apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\ncredentialPluginPolicy: DenyAll\noverrides:\n- command: get\n  flags: [{name: output, default: wide, short: o}]\n";
        let (preference, unknown) = decoded(text).unwrap();
        assert_eq!(preference.policy, PluginPolicy::default());
        assert_eq!(preference.defaults[0].options, [("output".to_owned(), "wide".to_owned())]);
        assert_eq!(unknown, ["credentialPluginPolicy", "overrides.flags.short"]);
    }

    #[test]
    fn names_are_checked_as_by_kubectl() {
        let head = "apiVersion: kubectl.config.k8s.io/v1\nkind: Preference\n";
        let check = |text: &str| decoded(&format!("{head}{text}")).unwrap().0.check();
        assert_eq!(check("aliases: [{name: a}, {name: b}]"), Ok(()));
        assert_eq!(check("aliases: [{name: a-b}]"), Err(PreferenceError::AliasName));
        assert_eq!(check("aliases: [{name: a}, {name: a}]"), Err(PreferenceError::DuplicateAlias("a".to_owned())));
        let dashes = check("defaults: [{command: get, options: [{name: --output, default: wide}]}]");
        assert_eq!(dashes, Err(PreferenceError::Dashes("--output".to_owned())));
    }
}
