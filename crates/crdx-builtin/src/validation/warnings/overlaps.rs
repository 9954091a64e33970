//! Paths in volumes that hide each other (`warningsForOverlappingVirtualPaths`).

use super::Warnings;
use crate::validation::field_value::FieldValue;
use crdx_value::quote::go_quote;
use crdx_value::release::V1_34;

/// The maximum number of paths of one volume that are compared with each other.
const MAX_COMPARED: usize = 1000;

/// A path in a volume, and the part of a projected volume that it comes from.
#[derive(Clone, Debug)]
struct Mapped {
    path: String,
    source: String,
}

impl Mapped {
    fn shown(&self) -> String {
        let path = go_quote(&self.path);
        if self.source.is_empty() { path } else { format!("{path} ({})", self.source) }
    }

    /// `checkForOverlap`
    fn overlaps(&self, other: &Self) -> bool {
        let is_within = |path: &str, parent: &str| {
            path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.path.is_empty()
            && !other.path.is_empty()
            && (is_within(&other.path, &self.path) || is_within(&self.path, &other.path))
    }
}

/// Warns about the paths of each volume.
pub(super) fn volumes(warnings: &mut Warnings, volumes: &FieldValue<'_, '_>) {
    for volume in volumes.items() {
        let name = volume.child("name").text();
        for (field, named, kind) in
            [("configMap", "name", "ConfigMap"), ("secret", "secretName", "Secret"), ("downwardAPI", "", "DownwardAPI")]
        {
            let source = volume.child(field);
            let shown = shown_source(&source, named, kind);
            collisions(warnings, name, &shown, mapped(&source, ""), &mut Vec::new());
        }
        let projected = volume.child("projected");
        let (mut seen, mut before) = (Vec::new(), Vec::new());
        for source in projected.child("sources").items() {
            match projection(&source) {
                Some(mut paths) => {
                    // Before 1.34, a source without paths is compared with those of the source before it.
                    if paths.is_empty() && !warnings.release.since(V1_34) {
                        paths.clone_from(&before);
                    }
                    before.clone_from(&paths);
                    collisions(warnings, name, "Projected", paths, &mut seen);
                }
                None => {
                    warnings.add(format!("volume {} (Projected) has no sources provided", go_quote(name)));
                }
            }
        }
    }
}

fn shown_source(source: &FieldValue<'_, '_>, named: &str, kind: &str) -> String {
    match named {
        "" => kind.to_owned(),
        named => format!("{kind} {}", go_quote(source.child(named).text())),
    }
}

/// The paths of the items of a source.
fn mapped(source: &FieldValue<'_, '_>, shown: &str) -> Vec<Mapped> {
    let items = source.child("items");
    let path =
        |item: FieldValue<'_, '_>| Mapped { path: item.child("path").text().to_owned(), source: shown.to_owned() };
    items.items().map(path).collect()
}

/// The paths of a part of a projected volume; `None` if it has no source.
fn projection(source: &FieldValue<'_, '_>) -> Option<Vec<Mapped>> {
    let one = |path: &str, source: String| Mapped { path: path.to_owned(), source };
    for (field, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        let inner = source.child(field);
        if inner.is_set() && inner.child("items").is_set() {
            return Some(mapped(&inner, &shown_source(&inner, "name", kind)));
        }
    }
    let [downward, token, bundle, certificate] =
        ["downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"]
            .map(|name| source.value.get(name));
    let text = |value: &crdx_value::Value, name: &str| value.str_at(&[name]).unwrap_or_default().to_owned();
    if downward.is_some_and(|downward| downward.get("items").is_some()) {
        return Some(mapped(&source.child("downwardAPI"), "DownwardAPI"));
    }
    if let Some(token) = token {
        return Some(vec![one(&text(token, "path"), "ServiceAccountToken".to_owned())]);
    }
    if let Some(bundle) = bundle {
        let name = bundle.str_at(&["name"]).map_or_else(|| text(bundle, "signerName"), str::to_owned);
        return Some(vec![one(&text(bundle, "path"), format!("ClusterTrustBundle {}", go_quote(&name)))]);
    }
    if let Some(certificate) = certificate {
        let fields = [
            ("certificateChainPath", "PodCertificate chain"),
            ("keyPath", "PodCertificate key"),
            ("credentialBundlePath", "PodCertificate credential bundle"),
        ];
        let paths = fields.map(|(field, shown)| one(&text(certificate, field), shown.to_owned()));
        return Some(paths.into_iter().filter(|mapped| !mapped.path.is_empty()).collect());
    }
    let is_empty = source.value.as_object().is_none_or(crdx_value::Map::is_empty);
    (!is_empty).then(Vec::new)
}

fn collisions(warnings: &mut Warnings, volume: &str, kind: &str, paths: Vec<Mapped>, seen: &mut Vec<Mapped>) {
    for mut mapped in paths {
        let length = mapped.path.trim_end_matches('/').len();
        mapped.path.truncate(length);
        for other in seen.iter().take(MAX_COMPARED).filter(|other| mapped.overlaps(other)) {
            if warnings.is_full() {
                return;
            }
            let (volume, own, other) = (go_quote(volume), mapped.shown(), other.shown());
            warnings.add(format!("volume {volume} ({kind}): overlapping paths: {own} with {other}"));
        }
        seen.push(mapped);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;

    fn warnings(volume: &str) -> Vec<String> {
        let pod = format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"volumes":[{{"name":"v",{volume}}}]}}}}"#);
        created("", "Pod", &pod, "1.37")
    }

    #[test]
    fn a_path_below_another_one_overlaps() {
        assert_eq!(
            warnings(
                r#""configMap":{"name":"c","items":[{"key":"a","path":"x"},{"key":"b","path":"x/y/"},{"key":"c","path":"xy"}]}"#
            ),
            [r#"volume "v" (ConfigMap "c"): overlapping paths: "x/y" with "x""#]
        );
    }

    #[test]
    fn the_parts_of_a_projected_volume_overlap() {
        let sources =
            r#"[{"serviceAccountToken":{"path":"t"}},{"secret":{"name":"s","items":[{"key":"a","path":"t"}]}},{}]"#;
        assert_eq!(
            warnings(&format!(r#""projected":{{"sources":{sources}}}"#)),
            [
                r#"volume "v" (Projected): overlapping paths: "t" (Secret "s") with "t" (ServiceAccountToken)"#,
                r#"volume "v" (Projected) has no sources provided"#,
            ]
        );
    }
    #[test]
    fn a_source_without_paths_has_those_of_the_one_before_it_until_1_33() {
        let sources = r#"{"serviceAccountToken":{"path":"t"}},{"configMap":{"name":"c"}}"#;
        let pod = format!(
            r#"{{"metadata":{{"name":"a"}},"spec":{{"volumes":[{{"name":"v","projected":{{"sources":[{sources}]}}}}]}}}}"#
        );
        let overlap =
            r#"volume "v" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" (ServiceAccountToken)"#;
        let is_warned = |release| created("", "Pod", &pod, release).iter().any(|warning| warning == overlap);
        assert!(is_warned("1.33") && !is_warned("1.34"));
    }
}
