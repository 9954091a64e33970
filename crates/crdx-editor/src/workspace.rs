//! Finds the files with CRDs in the folders of the workspace.

use crdx_files::open::read_small;
use crdx_value::sort::sort_by_key;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of files and directories that are searched.
const MOST_ENTRIES: usize = 50_000;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// Directories whose files belong to other programs.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor"];

/// The files that contain a CRD, in order. Hidden directories and symbolic links are skipped.
pub fn files_with_definitions(folders: &[PathBuf]) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    for folder in folders {
        search(folder, &mut left, &mut found);
    }
    found
}

fn search(directory: &Path, left: &mut usize, found: &mut Vec<String>) {
    // Directories are kept in a list, so that deep ones need no stack.
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).take(*left).collect();
        *left -= entries.len();
        sort_by_key(&mut entries, fs::DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
                below.push(entry.path());
            } else if kind.is_file() && contains_definition(&entry.path()) {
                found.push(entry.path().display().to_string());
            }
        }
        directories.extend(below.into_iter().rev());
    }
}

/// The text of a file that is not open.
pub fn read(path: &str) -> Option<String> {
    String::from_utf8(read_small(Path::new(path), LARGEST).ok()?).ok()
}

/// Returns true if a file probably contains a CRD. The file is searched for words and not parsed.
pub fn contains_definition(path: &Path) -> bool {
    let has_extension = path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
    has_extension
        && read_small(path, LARGEST)
            .is_ok_and(|text| contains(&text, b"CustomResourceDefinition") && contains(&text, b"openAPIV3Schema"))
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_definitions_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let crd = "kind: CustomResourceDefinition\nspec: {versions: [{schema: {openAPIV3Schema: {}}}]}\n";
        for name in ["b/crd.yaml", "a.yml", "node_modules/x.yaml", ".git/x.yaml", "readme.md"] {
            write(name, crd);
        }
        write("c.yaml", "kind: CustomResourceDefinition");
        let found = files_with_definitions(&[folder.path().to_owned()]);
        let names: Vec<&str> =
            found.iter().map(|path| path.strip_prefix(folder.path().to_str().unwrap()).unwrap()).collect();
        assert_eq!(names, ["/a.yml", "/b/crd.yaml"]);
    }
}
