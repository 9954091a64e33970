//! `--old git:REF`: the inputs as of a commit are the existing objects.

use super::configuration::git;
use super::screens::{command, place};
use std::fs;
use std::path::Path;

fn run(dir: &Path, line: &str) -> (String, Option<i32>) {
    let output = command(dir, line).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code())
}

#[test]
fn the_inputs_as_of_a_commit_are_the_existing_objects() {
    let dir = place("committed");
    git(&dir, &["init", "-q", "-b", "main"]);
    fs::create_dir(dir.join("objects")).unwrap();
    fs::copy(dir.join("examples/updates/old.yaml"), dir.join("objects/a.yaml")).unwrap();
    fs::copy(dir.join("examples/upgrade/old-crd.yaml"), dir.join("crd.yaml")).unwrap();
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "a"]);
    fs::copy(dir.join("examples/updates/new.yaml"), dir.join("objects/a.yaml")).unwrap();
    fs::copy(dir.join("examples/upgrade/new-crd.yaml"), dir.join("crd.yaml")).unwrap();
    // The result is that of the files themselves, and nothing is different from the working tree.
    for (command, old) in [("validate", "examples/updates/old.yaml"), ("diff", "examples/updates/old.yaml")] {
        let line = format!("{command} objects --crds examples/crds --offline --old");
        let (expected, code) = run(&dir, &format!("{line} {old}"));
        let (text, same) = run(&dir, &format!("{line} git:main"));
        assert_eq!((text.replace("git:main:objects/a.yaml", old), same), (expected, code), "{command}");
        for pattern in ["objects/*.yaml", "./**/a.yaml"] {
            let line = line.replace("objects", pattern);
            assert_eq!(run(&dir, &format!("{line} git:HEAD")).1, code, "{pattern}");
        }
    }
    let (text, code) = run(&dir, "lint crd.yaml --old git:main");
    assert!(code == Some(1) && text.contains("the server would accept this update"), "{text}");
    let (text, code) = run(&dir, "rehearse crd.yaml --old git:main -f examples/upgrade/stored.yaml --offline");
    let files = "rehearse crd.yaml --old examples/upgrade/old-crd.yaml -f examples/upgrade/stored.yaml --offline";
    assert_eq!((text, code), run(&dir, files));
    let object = "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata:\n  name: x\nspec:\n  cronSpec: 0 * * * *\n  image: a\n";
    fs::write(dir.join("objects/a.yaml"), object).unwrap();
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "b"]);
    assert_eq!(run(&dir, "diff objects --crds examples/crds --offline --old git:main"), (String::new(), Some(0)));
    // A file that the commit does not have is new.
    fs::rename(dir.join("objects/a.yaml"), dir.join("new.yaml")).unwrap();
    let (text, code) = run(&dir, "diff new.yaml --crds examples/crds --offline --old git:main");
    assert!(code == Some(1) && text.contains("+apiVersion: "), "{text}");
    for line in [
        "validate new.yaml --old git:nowhere --offline",
        "validate - --old git:main --offline",
        "validate -k . --old git:main --offline",
        "rehearse gone.yaml --old git:main -f new.yaml --offline",
    ] {
        let (text, code) = run(&dir, line);
        assert!(code == Some(2) && text.contains("error: ") && text.contains("help: "), "{line}: {text}");
    }
    // Only --old reads commits.
    let (text, code) = run(&dir, "validate git:main:objects/a.yaml --offline");
    assert!(code == Some(2) && text.contains("does not exist"), "{text}");
}
