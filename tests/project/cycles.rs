//! There are no import cycles between files, except between a module and its direct submodules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crate and path of a module: `["crdx-server", "server", "http"]`.
type Module = Vec<String>;

/// Every module of every crate with its code, without comments and tests.
fn modules() -> BTreeMap<Module, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    read_modules("kubectl-crdx", &root.join("src"), &mut found);
    read_modules("crdx-playground", &root.join("playground/engine/src"), &mut found);
    for folder in fs::read_dir(root.join("crates")).unwrap() {
        let folder = folder.unwrap().path();
        read_modules(folder.file_name().unwrap().to_str().unwrap(), &folder.join("src"), &mut found);
    }
    found
}

fn read_modules(krate: &str, root: &Path, found: &mut BTreeMap<Module, String>) {
    let mut directories: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            let Some(name) = name.strip_suffix(".rs").filter(|n| *n != "main") else { continue };
            let inner = name.split('/').filter(|part| *part != "lib").map(str::to_owned);
            let module: Module = [krate.to_owned()].into_iter().chain(inner).collect();
            if module.last().is_some_and(|last| last != "tests") {
                found.insert(module, code(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
}

fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(without_visibility).collect::<Vec<_>>().join("\n")
}

/// A line with `pub` for `pub(in …)`, whose path is not an import.
fn without_visibility(line: &str) -> String {
    let mut out = line.to_owned();
    while let Some((before, rest)) = out.split_once("pub(")
        && let Some((_, after)) = rest.split_once(')')
    {
        out = format!("{before}pub{after}");
    }
    out
}

/// The paths in the code: those of `use` items with their braces expanded, and those in expressions, which may begin with
/// an imported name.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut uses = Vec::new();
    let mut rest = String::new();
    let mut tree: Option<String> = None;
    for line in code.lines() {
        let item = line.trim_start();
        let item = item.strip_prefix("pub").map_or(item, |shown| shown.split_once(' ').map_or("", |(_, after)| after));
        match (&mut tree, item.strip_prefix("use ")) {
            (Some(begun), _) => begun.push_str(line),
            (None, Some(begun)) => tree = Some(begun.to_owned()),
            (None, None) => {
                rest.push_str(line);
                rest.push(' ');
            }
        }
        if let Some(whole) = tree.take_if(|tree| tree.contains(';')) {
            expand(whole.split(';').next().unwrap_or_default(), &[], &mut uses);
        }
    }
    let (mut out, mut imported) = (Vec::new(), BTreeMap::new());
    for mut path in uses {
        let last = path.pop().unwrap_or_default();
        let (original, name) = last.split_once(" as ").unwrap_or((&last, &last));
        if original != "self" {
            path.push(original.to_owned());
        }
        let name = if name == "self" { path.last().map_or("", String::as_str) } else { name };
        imported.insert(name.to_owned(), path.clone());
        out.push(path);
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let inline = rest.split(|c: char| !is_path(c)).filter(|word| word.contains("::"));
    out.extend(inline.map(|word| {
        let mut path: Vec<String> = word.split("::").map(str::to_owned).collect();
        if let Some(full) = path.first().and_then(|first| imported.get(first)) {
            path.splice(..1, full.iter().cloned());
        }
        path
    }));
    out
}

fn expand(tree: &str, prefix: &[String], out: &mut Vec<Vec<String>>) {
    let mut path = prefix.to_vec();
    let Some((head, rest)) = tree.split_once('{') else {
        path.extend(tree.split("::").map(|part| part.trim().to_owned()));
        out.push(path);
        return;
    };
    path.extend(head.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()));
    let (mut depth, mut start) = (0, 0);
    let rest = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    for (at, c) in rest.char_indices().chain([(rest.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !rest[start..at].trim().is_empty() {
                    expand(&rest[start..at], &path, out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The file that a path refers to, relative to `own`.
fn target(path: &[String], own: &Module, files: &BTreeSet<&Module>) -> Option<Module> {
    let mut at: Module = own.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            at.truncate(1);
            rest = &rest[1..];
        }
        krate if krate == "crdx" || krate.starts_with("crdx_") => {
            at = vec![krate.replace('_', "-")];
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                at.pop();
                rest = &rest[1..];
            }
        }
        _ => {}
    }
    let mut found = files.contains(&at).then(|| at.clone());
    for part in rest {
        at.push(part.clone());
        if !files.contains(&at) {
            break;
        }
        found = Some(at.clone());
    }
    found
}

type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// The files that each file imports.
fn imports() -> Imports {
    let modules = modules();
    let files: BTreeSet<&Module> = modules.keys().collect();
    let imports_of = |own: &Module, code: &str| -> BTreeSet<Module> {
        let targets = paths(code).into_iter().filter_map(|path| target(&path, own, &files));
        targets.filter(|other| other != own).collect()
    };
    modules.iter().map(|(own, code)| (own.clone(), imports_of(own, code))).collect()
}

/// All files reachable from `start`; includes `start` itself only if it is part of a cycle.
fn reachable(start: &Module, imports: &Imports) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&Module> = imports.get(start).into_iter().flatten().collect();
    while let Some(module) = waiting.pop() {
        if found.insert(module.clone()) {
            waiting.extend(imports.get(module).into_iter().flatten());
        }
    }
    found
}

/// The largest sets of files that all import each other, directly or through others.
fn knots(imports: &Imports) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<Module>> = imports.keys().map(|m| (m, reachable(m, imports))).collect();
    let mut knots = BTreeSet::new();
    for (module, far) in reached.iter().filter(|(module, far)| far.contains(**module)) {
        knots.insert(far.iter().filter(|other| reached[other].contains(*module)).cloned().collect::<BTreeSet<_>>());
    }
    knots.into_iter().collect()
}

/// Returns true if the files of a knot are one module with submodules, and every cycle goes through an import of a
/// parent by its direct child.
fn is_of_parents_and_children(knot: &BTreeSet<Module>, imports: &Imports) -> bool {
    let Some(root) = knot.iter().min_by_key(|module| module.len()) else { return true };
    let is_parent = |other: &Module, own: &Module| own.split_last().is_some_and(|(_, parent)| parent == &other[..]);
    let inner = |own: &Module| -> BTreeSet<Module> {
        imports[own].iter().filter(|other| knot.contains(*other) && !is_parent(other, own)).cloned().collect()
    };
    let downwards: Imports = knot.iter().map(|own| (own.clone(), inner(own))).collect();
    knot.iter().all(|module| module.starts_with(root)) && knots(&downwards).is_empty()
}

/// Cycles between the files of these folders remain. The list may only become shorter.
const KNOWN: &[&str] = &["crdx-server/crd"];

#[test]
fn there_are_no_import_cycles() {
    let imports = imports();
    let edges: usize = imports.values().map(BTreeSet::len).sum();
    assert!(edges > 500, "the imports were not found: {edges}");
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for knot in knots(&imports).into_iter().filter(|knot| !is_of_parents_and_children(knot, &imports)) {
        let files: Vec<String> = knot.iter().map(|module| module.join("/")).collect();
        let is_in = |folder: &str| files.iter().all(|file| file.strip_prefix(folder).is_some_and(is_inside));
        match KNOWN.iter().find(|folder| is_in(folder)) {
            Some(folder) => drop(needed.insert(*folder)),
            None => wrong.push(files.join(" ")),
        }
    }
    assert!(wrong.is_empty(), "files that import each other in a circle:\n{}", wrong.join("\n"));
    let unneeded: Vec<&str> = KNOWN.iter().copied().filter(|folder| !needed.contains(folder)).collect();
    assert!(unneeded.is_empty(), "remove these from KNOWN, they have no cycles: {unneeded:?}");
}

/// Returns true for what follows the name of a folder in the path of one of its files.
fn is_inside(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

#[test]
fn only_cycles_of_a_module_and_its_children_are_allowed() {
    let module = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
    let allowed = |edges: &[(&str, &str)]| {
        let mut imports = Imports::new();
        for (from, to) in edges {
            imports.entry(module(from)).or_default().insert(module(to));
            imports.entry(module(to)).or_default();
        }
        knots(&imports).iter().all(|knot| is_of_parents_and_children(knot, &imports))
    };
    assert!(allowed(&[("c/a", "c/a/b"), ("c/a/b", "c/a")]));
    assert!(allowed(&[("c/a", "c/a/b"), ("c/a/b", "c/a/d"), ("c/a/d", "c/a")]));
    assert!(!allowed(&[("c/a/b", "c/a/d"), ("c/a/d", "c/a/b")]), "siblings");
    assert!(!allowed(&[("c/a", "c/a/b"), ("c/a/b", "c/a/b/e"), ("c/a/b/e", "c/a")]), "a grandchild");
    assert!(!allowed(&[("c/a", "c/a/b"), ("c/a/b", "c/z"), ("c/z", "c/a")]), "another module");
}

#[test]
fn visibilities_are_not_imports() {
    assert_eq!(code("pub(in crate::server) use a::B;\n// crate::c"), "pub use a::B;");
}

#[test]
fn paths_may_begin_with_an_imported_name() {
    let found = paths("use crate::a::{self, b as c};\nfn f() { a::d::e(); c::g() }");
    for path in ["crate::a::d::e", "crate::a::b::g"] {
        assert!(found.iter().any(|f| f.join("::") == path), "{path} in {found:?}");
    }
}

#[test]
fn braces_of_imports_are_expanded() {
    let found: Vec<String> =
        paths("use crate::a::{self, b::{C, d}};\nfn f() { super::e::g() }").iter().map(|p| p.join("::")).collect();
    for path in ["crate::a", "crate::a::b::C", "crate::a::b::d", "super::e::g"] {
        assert!(found.iter().any(|f| f == path), "{path} in {found:?}");
    }
}
