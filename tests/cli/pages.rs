//! The pages of `-o html` are well-formed, load nothing external, and escape all text from objects. An
//! ignored test renders them with Chromium.

use crate::cli::screens::place;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The pages, each with a text that it must contain.
const PAGES: &[(&str, &str, &str)] = &[
    ("validate", "validate -f examples/objects hostile.yaml --crds examples/crds --offline", "would be rejected"),
    (
        "update",
        "validate -f examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline",
        "What would change",
    ),
    ("costs", "lint input/costly-crd.yaml", "heap enough with maxItems: 844 on spec.ships"),
    ("breaks", "lint input/new-crd.yaml --old input/costly-crd-old.yaml", "What breaks for stored objects"),
    (
        "upgrade",
        "rehearse examples/upgrade/new-crd.yaml --old examples/upgrade/old-crd.yaml -f examples/upgrade/stored.yaml --offline",
        "What is lost",
    ),
    (
        "operator",
        "rehearse input/operator/new --old input/operator/old -f input/operator/objects.yaml --offline",
        "Before the upgrade",
    ),
    (
        "operator-policies",
        "rehearse input/operator-policies/new --old input/operator-policies/old -f input/operator-policies/objects.yaml --offline",
        "denied by new policies",
    ),
    (
        "matrix",
        "rehearse input/operator-policies/later.yaml --old input/operator-policies/old -f input/operator-policies/objects.yaml --offline --kubernetes-version 1.32..1.33",
        "No order of the upgrades keeps every object as it is.",
    ),
    ("kubernetes", "rehearse --kubernetes-version 1.31..1.37 -f input/cluster --offline", "upgrade all API servers"),
];

const HOSTILE: &str = "apiVersion: stable.example.com/v1
kind: CronTab
metadata:
  name: x
spec:
  image: \"</pre><script>alert(1)</script><img src='http://x.example/y'>\"
---
apiVersion: stable.example.com/v1
kind: CronTab
metadata:
  name: y
spec:
  image: x
  '\"><b onclick=\"x\">': 1
";

/// Writes the pages and returns their directory.
fn pages(name: &str) -> PathBuf {
    let place = place(name);
    fs::write(place.join("hostile.yaml"), HOSTILE).unwrap();
    for (page, line, _) in PAGES {
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(line.split_whitespace())
            .args(["-o", "html"])
            .current_dir(&place)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        fs::write(place.join(page).with_extension("html"), output.stdout).unwrap();
    }
    place
}

#[test]
fn pages_are_well_formed_and_self_contained() {
    let place = pages("pages");
    for (page, _, shows) in PAGES {
        let text = fs::read_to_string(place.join(page).with_extension("html")).unwrap();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
        let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
        let shown: String = document.descendants().filter_map(|node| node.text()).collect();
        assert!(shown.contains(shows), "{page}");
        let ids: BTreeSet<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            let name = node.tag_name().name();
            assert!(!["link", "img", "iframe", "object", "form"].contains(&name), "{page}: {name}");
            for attribute in node.attributes() {
                assert!(!attribute.name().starts_with("on") && attribute.name() != "src", "{page}: {attribute:?}");
                if attribute.name() == "href" {
                    let id = attribute.value().strip_prefix('#').unwrap();
                    assert!(ids.contains(id), "{page}: #{id}");
                }
            }
        }
        let scripts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("script")).collect();
        let [script] = scripts.as_slice() else { panic!("{page}: {} scripts", scripts.len()) };
        // The content security policy allows only this script.
        let policy = format!("script-src 'sha256-{}'", hash(script.text().unwrap()));
        assert!(text.contains(&policy), "{page}: the policy should have {policy}");
        let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap().text().unwrap();
        assert!(!style.contains("url(") && !style.contains("@import") && style.contains("prefers-color-scheme: dark"));
    }
    let text = fs::read_to_string(place.join("validate.html")).unwrap();
    assert!(text.contains("&lt;/pre&gt;&lt;script&gt;alert(1)"), "the hostile text is shown");
}

/// The base64-encoded SHA-256 of a text.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let digits = |bytes: &[u8]| {
        let bits = bytes.iter().chain(&[0, 0]).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        (0..=bytes.len()).map(|i| char::from(DIGITS[bits >> (18 - 6 * i) & 63])).collect::<String>()
    };
    let text: String = digest.chunks(3).map(digits).collect();
    format!("{text}{}", "=".repeat((4 - text.len() % 4) % 4))
}

#[test]
fn rejected_objects_come_first() {
    let place = pages("ranked");
    let text = fs::read_to_string(place.join("validate.html")).unwrap();
    let verdicts: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("<tr data-object=")).collect();
    let rejected: Vec<_> = verdicts.iter().map(|row| row.contains("\"rejected\"")).collect();
    assert!(rejected[0] && rejected.is_sorted_by(|a, b| a >= b), "{verdicts:?}");
}

#[test]
fn many_accepted_objects_are_compressed() {
    let place = place("many");
    let object = |n: usize| {
        let image = if n == 1_999 { HOSTILE_IMAGE } else { "x" };
        format!(
            "---\napiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {{name: c{n}}}\nspec: {{image: \"{image}\", replicas: {}}}\n",
            if n.is_multiple_of(500) { 99 } else { 2 }
        )
    };
    fs::write(place.join("many.yaml"), (0..2_000).map(object).collect::<String>()).unwrap();
    let page = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["validate", "many.yaml", "--crds", "examples/crds", "--offline", "-o", "html"])
            .args(more)
            .current_dir(&place)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = page(&[]);
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
    let having = |name: &str, class: &str| {
        let nodes = document.descendants().filter(|node| node.has_tag_name(name));
        nodes.filter(|node| node.attribute("class").unwrap_or_default().split(' ').any(|one| one == class)).count()
    };
    // The rejected objects are on the page, the others in a group.
    assert_eq!((having("section", "bad"), having("section", "good"), having("details", "group")), (4, 0, 1));
    assert!(text.contains("<b>1996 objects</b>") && text.contains("<template data-group=\"0\">"));
    assert!(!text.contains("onerror"), "compressed objects are base64");
    // The objects alone have more bytes.
    assert!(text.len() < 160_000, "{} bytes", text.len());
    let quiet = page(&["--quiet", "--skip", "CronTab"]);
    assert!(quiet.contains("<p class=\"empty\">No object is rejected"), "{quiet}");
}

const HOSTILE_IMAGE: &str = "<img src=x onerror=alert(1)>";

fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    })
}

/// Runs Chromium on a page with these flags and returns its output.
fn browse(program: &str, place: &Path, page: &str, flags: &[String]) -> String {
    let profile = place.join(format!("profile-{page}-{}", flags.len()));
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1200,1600",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(flags)
        .arg(format!("file://{}", place.join(page).with_extension("html").display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "needs Chromium: cargo test --test tests chromium -- --ignored"]
fn chromium_renders_pages() {
    let program = chromium().expect("Chromium is installed");
    let place = pages("browsed");
    for (page, _, shows) in PAGES {
        let written = fs::read_to_string(place.join(page).with_extension("html")).unwrap();
        // In Chromium's DOM, every section of the source is a section, and no text became a script.
        let dom = browse(program, &place, page, &["--dump-dom".to_owned()]);
        let count = |text: &str, what: &str| text.matches(what).count();
        assert!(dom.contains(shows), "{page}");
        // The script ran: it displayed the controls and filled the list of verdicts.
        if written.contains("class=\"filter\"") {
            assert!(dom.contains("<p class=\"filter\">") && count(&dom, "<option") > 1, "{page}");
        }
        for element in ["<section", "<tr>", "<pre", "<details", "<script"] {
            assert_eq!(count(&dom, element), count(&written, element), "{page}: {element}");
        }
        // Rendering is slow, so only two pages are rendered.
        if !["validate", "costs"].contains(page) {
            continue;
        }
        let shot = place.join(page).with_extension("png");
        browse(program, &place, page, &[format!("--screenshot={}", shot.display()), "--hide-scrollbars".to_owned()]);
        let image = fs::read(&shot).unwrap();
        // An empty page of this size has only a few kilobytes.
        assert!(image.starts_with(b"\x89PNG") && image.len() > 40_000, "{page}: {} bytes", image.len());
        println!("looked at {page}: {} sections, {} bytes of picture", count(&dom, "<section"), image.len());
    }
}
