//! Parses the selection of objects on the command line (`cli-runtime/pkg/resource/builder.go`), with kubectl's
//! messages.

use crdx_cluster::Resource;
use crdx_value::GoError;

/// The selected objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All objects of some resource types.
    Types(Vec<String>),
    /// Objects by name: the resource type and the name of each.
    Names(Vec<(String, String)>),
}

/// Parses the arguments. `selects` is true if there is a selector. `category` returns the resource types of a category.
pub fn read(
    words: &[String],
    selects: bool,
    category: impl Fn(&str) -> Option<Vec<String>>,
) -> Result<Selection, GoError> {
    let words = each_type_with_each_name(words);
    let pairs = words.iter().filter(|w| w.contains('/')).count();
    if pairs > 0 && pairs == words.len() {
        if selects {
            let message = "selectors and the all flag cannot be used when passing resource/name arguments";
            return Err(message.into());
        }
        return words.iter().map(|word| pair(word)).collect::<Result<_, _>>().map(Selection::Names);
    }
    if pairs > 0 {
        return Err("there is no need to specify a resource type as a separate argument when passing arguments in \
            resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource \
            resource/<resource_name>'"
            .into());
    }
    let Some((types, names)) = words.split_first() else { return Ok(Selection::Types(Vec::new())) };
    let expanded = types.split(',').flat_map(|word| category(word).unwrap_or_else(|| vec![word.to_owned()]));
    let types = unique(expanded);
    match (types.as_slice(), names) {
        (_, []) => Ok(Selection::Types(types)),
        (_, [..]) if selects => Err("name cannot be provided when a selector is specified".into()),
        ([only], names) => Ok(Selection::Names(names.iter().map(|name| (only.clone(), name.clone())).collect())),
        _ => Err("you must specify only one resource".into()),
    }
}

/// Expands `a,b x y` to `a/x a/y b/x b/y`.
fn each_type_with_each_name(words: &[String]) -> Vec<String> {
    if let Some((types, names)) = words.split_first()
        && !names.is_empty()
    {
        let types = unique(types.split(',').map(str::to_owned));
        if types.len() > 1 {
            return types.iter().flat_map(|t| names.iter().map(move |name| format!("{t}/{name}"))).collect();
        }
    }
    words.to_vec()
}

fn pair(word: &str) -> Result<(String, String), GoError> {
    match word.split('/').collect::<Vec<_>>().as_slice() {
        [type_, name]
            if type_.is_empty() || name.is_empty() || unique(type_.split(',').map(str::to_owned)).len() != 1 =>
        {
            Err("arguments in resource/name form must have a single resource and name".into())
        }
        [type_, name] => Ok(((*type_).to_owned(), (*name).to_owned())),
        _ => Err("arguments in resource/name form may not have more than one slash".into()),
    }
}

/// Returns the words without duplicates, in the order of their first occurrence.
fn unique(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        if !out.contains(&word) {
            out.push(word);
        }
    }
    out
}

/// Returns the resource types of a category, as kubectl writes them; `None` if the category does not exist.
pub fn category(resources: &[Resource], word: &str) -> Option<Vec<String>> {
    let called = resources.iter().filter(|r| r.categories.iter().any(|c| c == word));
    let types = unique(called.map(Resource::qualified));
    (!types.is_empty()).then_some(types)
}

/// Returns other resources with the same short name; kubectl warns about them.
pub fn also_meant(resources: &[Resource], word: &str, meant: &Resource) -> Vec<String> {
    let (name, group) = word.split_once('.').map_or((word, None), |(name, group)| (name, Some(group)));
    let in_group = |r: &&Resource| group.is_none_or(|group| r.group == group);
    let called = |r: &Resource| r.plural == name || r.singular == name;
    if resources.iter().filter(in_group).any(called) {
        return Vec::new();
    }
    let short = resources.iter().filter(in_group).filter(|r| r.short_names.iter().any(|s| s == name));
    let alternatives = short.filter(|r| (&r.group, &r.plural) != (&meant.group, &meant.plural));
    unique(alternatives.map(|r| format!("{}.{}", r.plural, r.group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn read_words(text: &str, selects: bool) -> Result<Selection, GoError> {
        read(&words(text), selects, |word| (word == "all").then(|| words("x.g y.g")))
    }

    fn names(pairs: &[(&str, &str)]) -> Selection {
        Selection::Names(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn types_and_names_are_distinguished() {
        assert_eq!(read_words("a", false), Ok(Selection::Types(words("a"))));
        assert_eq!(read_words("a,b,a", true), Ok(Selection::Types(words("a b"))));
        assert_eq!(read_words("all,z", false), Ok(Selection::Types(words("x.g y.g z"))));
        assert_eq!(read_words("a x y", false), Ok(names(&[("a", "x"), ("a", "y")])));
        assert_eq!(read_words("a,b x", false), Ok(names(&[("a", "x"), ("b", "x")])));
        assert_eq!(read_words("a/x b/y", false), Ok(names(&[("a", "x"), ("b", "y")])));
    }

    #[test]
    fn arguments_that_kubectl_refuses_are_refused() {
        for (text, selects, message) in [
            ("a x", true, "name cannot be provided when a selector is specified"),
            ("a/x", true, "selectors and the all flag cannot be used when passing resource/name arguments"),
            ("a/x/y", false, "arguments in resource/name form may not have more than one slash"),
            ("a/", false, "arguments in resource/name form must have a single resource and name"),
            ("all x", false, "you must specify only one resource"),
        ] {
            assert_eq!(read_words(text, selects), Err(message.into()), "{text}");
        }
        assert!(
            read_words("a b/x", false).unwrap_err().as_str().starts_with("there is no need to specify a resource type")
        );
    }

    #[test]
    fn short_names_may_be_ambiguous() {
        let resource = |group: &str, plural: &str, short: &str| Resource {
            group: group.to_owned(),
            plural: plural.to_owned(),
            short_names: words(short),
            categories: words("every"),
            ..Resource::default()
        };
        let all = [resource("a.io", "vases", "vs"), resource("b.io", "voices", "vs v"), resource("c.io", "v", "")];
        assert_eq!(also_meant(&all, "vs", &all[0]), ["voices.b.io"]);
        assert_eq!(also_meant(&all, "vs.b.io", &all[1]), [""; 0]);
        assert_eq!(also_meant(&all, "v", &all[2]), [""; 0]);
        assert_eq!(category(&all, "every").unwrap(), ["vases.a.io", "voices.b.io", "v.c.io"]);
        assert_eq!(category(&all, "none"), None);
    }
}
