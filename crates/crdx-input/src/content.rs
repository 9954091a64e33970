//! Classifies the documents of a repository. Besides Kubernetes objects, a repository contains values files, package
//! descriptions, kustomizations and Helm templates, which no cluster accepts.

use crdx_engine::documents::{encrypted, is_definition};
use crdx_text::{self as text, documents::Chunk};
use crdx_value::{Value, group_version};
use std::path::Path;

/// The reason why a document or a file is not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoObject {
    /// It has neither `apiVersion` nor `kind`.
    Unrelated,
    Kustomize,
    /// It is a file of Helm: `Chart.yaml`, or the index of a repository.
    Helm,
    /// It is a Helm template, which is not YAML until it is rendered.
    Template,
    /// It is encrypted with git-crypt or age, or so is what identifies the object with SOPS.
    Encrypted,
    /// It is a file of an archive that is not YAML.
    Unreadable,
    /// It is empty, or has only comments and separators.
    Empty,
    /// It is a pipe, a socket or a device.
    NoFile,
    /// It is a patch of a CRD, as in `config/crd/patches` of a kubebuilder project.
    Patch,
    /// A kustomization uses it, and not as a resource: it is a patch, or an input of a generator.
    KustomizeInput,
}

impl NoObject {
    /// The message when such a document or file was named on the command line.
    pub fn message(self, source: &str) -> String {
        match self {
            Self::Unrelated => "not a Kubernetes object: it has no apiVersion and no kind".to_owned(),
            Self::Kustomize => "configuration of kustomize, not a Kubernetes object".to_owned(),
            Self::Unreadable => "not YAML".to_owned(),
            Self::Helm => "a file of Helm, not a Kubernetes object".to_owned(),
            Self::Template => "a Helm template: render it first".to_owned(),
            Self::Encrypted => "encrypted, so that its objects cannot be checked".to_owned(),
            Self::Empty => format!("there is no object in {}", if source == "-" { "standard input" } else { source }),
            Self::NoFile => format!("{source} is not a regular file"),
            Self::Patch => {
                "a patch for kustomize, which defines no kind: it has no group, names and versions".to_owned()
            }
            Self::KustomizeInput => "a patch or another input of a kustomization".to_owned(),
        }
    }

    /// The help line.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Unrelated | Self::NoFile | Self::Unreadable => {
                "leave it out, or skip such documents with --skip-non-objects"
            }
            Self::Kustomize | Self::KustomizeInput => {
                "build it: kubectl crdx validate -k DIRECTORY, or --render DIRECTORY"
            }
            Self::Patch => "name the whole CRD, or build it: kubectl kustomize DIRECTORY",
            Self::Helm => {
                "render the chart: kubectl crdx validate --render DIRECTORY, or helm template … | kubectl crdx validate -f -"
            }
            Self::Template => "kubectl crdx validate --render CHART, or helm template … | kubectl crdx validate -f -",
            Self::Encrypted => "decrypt it first; for SOPS, set encrypted_regex: ^(data|stringData)$ in .sops.yaml",
            Self::Empty => "it is empty, or contains only comments, separators and empty lists",
        }
    }
}

/// Returns the reason why a document is not intended to be an object; `None` if it is one, possibly with mistakes.
pub fn no_object(source: &str, value: &Value) -> Option<NoObject> {
    let text = |key: &str| value.get(key).filter(|value| !value.is_null());
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let file = Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if is_kustomize(file, api_version, kind) {
        return Some(NoObject::Kustomize);
    }
    match (api_version, kind) {
        _ if encrypted::hides_identity(value) => Some(NoObject::Encrypted),
        (None, None) if encrypted::is_encrypted(value) => Some(NoObject::Encrypted),
        (None, None) => Some(NoObject::Unrelated),
        (Some(_), None) if file == "Chart.yaml" || (file == "index.yaml" && value.get("entries").is_some()) => {
            Some(NoObject::Helm)
        }
        _ => None,
    }
}

/// Returns true for the text of a file that git-crypt or age encrypted.
pub fn is_encrypted_file(text: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [b"\0GITCRYPT\0", b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----"];
    starts.iter().any(|start| text.starts_with(start))
}

/// Returns true for a patch of a CRD: it has a directive of a strategic merge patch, or no field that every CRD has. A
/// `spec` that is no object is the mistake of a CRD.
pub fn is_definition_patch(value: &Value) -> bool {
    let spec = value.get("spec");
    let has = |key: &&str| spec.is_some_and(|spec| spec.get(key).is_some());
    let is_directive = |of: Option<&Value>| of.is_some_and(|of| of.get("$patch").is_some());
    let may_be_partial = spec.is_none_or(|spec| spec.is_null() || spec.as_object().is_some());
    let is_partial = || may_be_partial && !["group", "names", "versions", "version"].iter().any(has);
    is_definition(value) && (is_directive(Some(value)) || is_directive(spec) || is_partial())
}

/// Kustomize accepts its files without `apiVersion` and `kind` (`kustomize/api/types`,
/// `FixKustomizationPostUnmarshal`).
fn is_kustomize(file: &str, api_version: Option<&Value>, kind: Option<&Value>) -> bool {
    let of_kustomize =
        |value: &Value| group_version::group(value.as_str().unwrap_or_default()) == "kustomize.config.k8s.io";
    let own_kind = |value: &Value| matches!(value.as_str(), Some("Kustomization" | "Component"));
    let own_file = matches!(file, "kustomization.yaml" | "kustomization.yml" | "Kustomization");
    match (api_version, kind) {
        (Some(api_version), kind) => of_kustomize(api_version) && kind.is_none_or(own_kind),
        (None, kind) => own_file && kind.is_none_or(own_kind),
    }
}

/// Returns true if a chunk is (part of) a Helm template. `unreadable`: it is not YAML. A chunk that is valid YAML counts
/// as a template only inside a chart, because the strings of objects may contain templates of other programs.
pub fn is_template(source: &str, chunk: &Chunk, unreadable: bool) -> bool {
    let text = &chunk.text;
    if !text::contains(text, "{{") {
        return false;
    }
    if unreadable { text.split(|b| *b == b'\n').any(has_action) } else { is_in_chart(Path::new(source)) }
}

/// Returns true if a line has a template action outside of quotes.
fn has_action(line: &[u8]) -> bool {
    let is_quoted = |before: &[u8]| {
        let odd = |quote: u8| before.split(|b| *b == quote).count() % 2 == 0;
        odd(b'"') || odd(b'\'')
    };
    let actions = line.windows(2).enumerate().filter(|(_, pair)| pair == b"{{");
    let mut before = actions.filter_map(|(at, _)| line.get(..at));
    !line.trim_ascii_start().starts_with(b"#") && before.any(|before| !is_quoted(before))
}

/// Returns true if a file is below `templates/` of a chart.
fn is_in_chart(path: &Path) -> bool {
    path.ancestors().skip(1).any(|directory| {
        directory.file_name().is_some_and(|name| name == "templates")
            && directory.parent().is_some_and(|chart| chart.join("Chart.yaml").is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::{Position, Syntax, yaml};

    fn found(source: &str, text: &str) -> Option<NoObject> {
        no_object(source, &yaml::read(text.as_bytes()).unwrap())
    }

    #[test]
    fn files_of_other_programs_are_no_objects() {
        for (source, text) in [
            ("chart/values.yaml", "replicas: 1"),
            ("package.json", "{\"name\": \"x\", \"version\": \"1\"}"),
            ("compose.yaml", "services: {a: {image: b}}"),
            ("playbook.yaml", "- hosts: all"),
            ("notes.yaml", "just text"),
            ("x.yaml", "apiVersion:\nkind: ~"),
        ] {
            assert_eq!(found(source, text), Some(NoObject::Unrelated), "{source}");
        }
        let sops = "data: 'ENC[AES256_GCM,data:x,type:str]'\nsops: {mac: 'ENC[AES256_GCM,data:x,type:str]'}\n";
        assert_eq!(found("secret.yaml", sops), Some(NoObject::Encrypted));
        assert_eq!(found("secret.yaml", &format!("apiVersion: v1\nkind: Secret\n{sops}")), None);
        assert_eq!(found("a/Chart.yaml", "apiVersion: v2\nname: a"), Some(NoObject::Helm));
        assert_eq!(found("index.yaml", "apiVersion: v1\nentries: {}"), Some(NoObject::Helm));
    }

    #[test]
    fn kustomize_has_files_of_its_own() {
        let own = Some(NoObject::Kustomize);
        assert_eq!(found("k.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization"), own);
        assert_eq!(found("k.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component"), own);
        assert_eq!(found("a/kustomization.yaml", "resources: [x.yaml]"), own);
        assert_eq!(found("kustomization.yml", "kind: Component"), own);
        assert_eq!(found("kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1"), own);
        assert_eq!(found("k.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization"), None);
        assert_eq!(found("kustomization.yaml", "apiVersion: v1\nkind: ConfigMap"), None);
    }

    #[test]
    fn a_patch_of_a_crd_is_no_crd() {
        let is = |rest: &str| {
            let text = format!("{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition{rest}}}");
            is_definition_patch(&yaml::read(text.as_bytes()).unwrap())
        };
        assert!(is(", metadata: {name: a.b, annotations: {cert-manager.io/inject-ca-from: x/y}}"));
        assert!(is(", metadata: {name: a.b}, spec: {conversion: {strategy: Webhook}}"));
        assert!(is(", metadata: {name: a.b}, $patch: delete"));
        assert!(is(", spec: {$patch: replace, group: b, names: {}, versions: []}"));
        for own in ["group: b", "names: {kind: A}", "versions: []", "version: v1"] {
            assert!(!is(&format!(", spec: {{{own}}}")), "a CRD with mistakes: {own}");
        }
        for own in ["7", "x", "[]"] {
            assert!(!is(&format!(", metadata: {{name: a.b}}, spec: {own}")), "a CRD with mistakes: {own}");
        }
        assert!(!is_definition_patch(&yaml::read(b"{apiVersion: v1, kind: ConfigMap, $patch: delete}").unwrap()));
    }

    #[test]
    fn a_document_with_one_of_api_version_and_kind_is_meant_as_an_object() {
        for text in ["kind: A", "apiVersion: v1", "{apiVersion: v1, kind: ''}", "{apiVersion: 1, kind: A}"] {
            assert_eq!(found("x.yaml", text), None, "{text}");
        }
    }

    #[test]
    fn a_template_has_actions_outside_of_texts() {
        let is = |text: &str| {
            let chunk = Chunk::new(text.as_bytes().to_vec(), Position { line: 1, column: 1 }, Syntax::Yaml);
            is_template("x.yaml", &chunk, chunk.read().is_err())
        };
        assert!(is("{{- if .Values.a }}\nkind: A\n{{- end }}\n"));
        assert!(is("kind: A\nmetadata:\n  name: {{ .Release.Name }}\n"));
        assert!(is("kind: A\nmetadata:\n  name: {{ include \"a\" . }}-b\n"));
        assert!(is("a:\n- {{ .x }}\n"));
        assert!(is("a: \"b\"{{- if .x }}\n"));
        assert!(!is("text: \"{{ $labels.instance }} is down\"\n"), "YAML with templates of Prometheus");
        assert!(!is("text: \"{{ $labels.instance }} is down\"\nbroken: [\n"), "broken YAML that is no template");
        assert!(!is("broken: [\n"));
    }
}
