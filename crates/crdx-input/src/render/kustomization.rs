//! The files that a kustomization names.

use crdx_value::Value;

/// A patch of a kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    File(String),
    /// A text in the kustomization.
    Inline(String),
}

/// The members of a kustomization with resources and patches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kustomization {
    /// True for a component, which is only built as a part of kustomizations.
    pub is_component: bool,
    /// Files, directories and URLs with resources.
    pub resources: Vec<String>,
    pub patches: Vec<Patch>,
    /// Every text in it, which may be the name of a file.
    texts: Vec<String>,
}

/// A kustomization nested deeper has no more names.
const MAX_DEPTH: usize = 32;

impl Kustomization {
    /// Reads the members.
    pub fn new(value: &Value) -> Self {
        let list = |name: &str| value.get(name).and_then(Value::as_array).unwrap_or_default();
        let texts = |name: &str| list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
        let resources = ["resources", "bases", "components"].map(texts).concat();
        let mut patches: Vec<Patch> = texts("patchesStrategicMerge")
            .into_iter()
            .map(|text| if text.contains('\n') { Patch::Inline(text) } else { Patch::File(text) })
            .collect();
        for patch in list("patches").iter().chain(list("patchesJson6902")) {
            let member = |name: &str| patch.str_at(&[name]).map(str::to_owned);
            patches.extend(member("path").map(Patch::File).or_else(|| member("patch").map(Patch::Inline)));
        }
        let mut all = Vec::new();
        add_texts(value, 0, &mut all);
        let is_component = value.str_at(&["kind"]) == Some("Component");
        Self { is_component, resources, patches, texts: all }
    }

    /// Returns the names of YAML and JSON files that are no resources: patches, inputs of generators, values of charts, and
    /// configurations.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        let has_ending = |name: &&str| [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending));
        self.paths().filter(has_ending).filter(|name| !self.resources.iter().any(|resource| resource == name))
    }

    /// Returns every text that may be a path. Generators also take `KEY=FILE`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| text.rsplit_once('=').map_or(text.as_str(), |(_, name)| name))
    }

    /// Returns true if the kustomization names a file, given relative to its directory with `/`.
    pub fn names(&self, file: &str) -> bool {
        self.paths().any(|path| path.trim_start_matches("./") == file)
    }
}

fn add_texts(value: &Value, depth: usize, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.contains('\n') => texts.push(text.clone()),
        Value::Array(items) if depth < MAX_DEPTH => items.iter().for_each(|item| add_texts(item, depth + 1, texts)),
        Value::Object(members) if depth < MAX_DEPTH => {
            members.values().for_each(|member| add_texts(member, depth + 1, texts));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_and_patches_are_read() {
        let text = "resources: [a.yaml, ../base]\nbases: [old]\ncomponents: [c]\npatches:\n- path: p.yaml\n- patch: '- op: remove'\npatchesStrategicMerge:\n- s.yaml\n- |-\n  a: 1\n  b: 1\nconfigMapGenerator:\n- files: [./f.txt, key=g.yaml]\n";
        let read = Kustomization::new(&crdx_text::yaml::read(text.as_bytes()).unwrap());
        assert_eq!(read.resources, ["a.yaml", "../base", "old", "c"]);
        let file = |name: &str| Patch::File(name.to_owned());
        let inline = |text: &str| Patch::Inline(text.to_owned());
        assert_eq!(read.patches, [file("s.yaml"), inline("a: 1\nb: 1"), file("p.yaml"), inline("- op: remove")]);
        assert!(["f.txt", "g.yaml", "a.yaml"].iter().all(|name| read.names(name)) && !read.names("other.yaml"));
        assert!(!read.is_component);
    }
}
