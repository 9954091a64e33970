//! The rules of CRDs: which compile, and which give the answer of the API server for the objects.
//!
//! The right answer is that of crdx-cel, if cel-go has the same: `benches/cel.py` compares both, and `tests/facts` compares
//! crdx-cel with recorded answers of a server.

use crate::answer::Answer;
use crate::engines::{CEL, CRDX_CEL, Engine, Failure, KUBE_CEL, Question, Variable};
use crate::score::{Score, heading};
use crdx_cel::PER_CALL_LIMIT;
use crdx_cel::env::{BaseEnv, Env};
use crdx_cel::eval::Program;
use crdx_cel::types::Type;
use crdx_server::rules::cel_type;
use crdx_server::rules::compile::NodeType;
use crdx_server::rules::escape::escape;
use crdx_server::schema::Schema;
use crdx_text::documents::Chunks;
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The values on which a rule is evaluated at most.
const VALUES: usize = 20;

/// The results for one rule.
#[derive(Default)]
struct Found {
    compiles: [bool; 3],
    /// True if all answers were right, and their number.
    is_right: [bool; 3],
    answers: usize,
}

type Rules = BTreeMap<String, Found>;

/// Compares all rules of the projects and prints the tables.
pub fn compare(corpus: &Path, verbose: bool) {
    let mut rules = Rules::new();
    let mut answers = Score::default();
    let mut projects: Vec<PathBuf> =
        std::fs::read_dir(corpus).expect("the corpus").map(|entry| entry.expect("an entry").path()).collect();
    projects.sort();
    for project in projects.iter().filter(|project| project.is_dir()) {
        let mut kinds: BTreeMap<String, Vec<(Schema, NodeType)>> = BTreeMap::new();
        for crd in objects(&project.join("crds")) {
            let text = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
            let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
            for version in crd.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default() {
                let Some(Ok(schema)) = version.at(&["schema", "openAPIV3Schema"]).map(Schema::from_value) else {
                    continue;
                };
                let name = version.str_at(&["name"]).unwrap_or_default();
                let node = cel_type(&schema, true, Release::NEWEST);
                compile_all(&schema, &node, &mut rules);
                kinds.entry(format!("{group}/{name} {kind}")).or_default().push((schema, node));
            }
        }
        for object in ["objects", "invalid"].iter().flat_map(|folder| objects(&project.join(folder))) {
            let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
            for (schema, node) in kinds.get(&format!("{} {}", text("apiVersion"), text("kind"))).into_iter().flatten() {
                visit(schema, node, &object, &mut rules, &mut answers, verbose);
            }
        }
    }
    heading("rules of CRDs", [CEL, KUBE_CEL, CRDX_CEL]);
    let count = |of: &dyn Fn(&Found) -> Option<[bool; 3]>| {
        let mut score = Score::default();
        rules.values().filter_map(of).for_each(|right| score.add(right));
        score
    };
    count(&|found| Some(found.compiles)).print("different rules: they compile");
    count(&|found| (found.answers > 0).then_some(found.is_right)).print("rules with objects: all answers are right");
    answers.print("rules on values of objects: the answer is right");
}

/// The objects of the files of a folder.
fn objects(folder: &Path) -> Vec<Value> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut objects = Vec::new();
    for file in files {
        let text = std::fs::read(&file).expect("can be read");
        for chunk in Chunks::new(text.as_slice()) {
            if let Ok(contents) = chunk.map(|chunk| chunk.read().map(|contents| contents.value)) {
                objects.extend(contents);
            }
        }
    }
    objects
}

/// Compiles the rules of a schema. A rule is right if the engine compiles it; each of these is a rule of a CRD that a server has.
fn compile_all(schema: &Schema, node: &NodeType, rules: &mut Rules) {
    for rule in &schema.x_validations {
        let compiles = |engine: Engine| {
            let question = Question { source: &rule.rule, container: "", variables: &[] };
            !matches!(engine.run(&question), Err(Failure::Compile(_) | Failure::Panic))
        };
        let ours =
            environment(node, rule.optional_old_self == Some(true)).is_some_and(|env| env.compile(&rule.rule).is_ok());
        let found = rules.entry(rule.rule.clone()).or_default();
        found.compiles = [compiles(CEL), compiles(KUBE_CEL), ours];
    }
    children(schema, node, &mut |child, node, _| compile_all(child, node, rules));
}

fn environment(node: &NodeType, optional: bool) -> Option<Env> {
    Some(node.env(&BaseEnv::for_stored(Release::NEWEST), &node.decl.as_ref()?.cel_type, optional))
}

/// A step from a value to parts of it.
enum Step<'a> {
    Property(&'a str),
    Items,
    Values,
}

fn children<'s>(schema: &'s Schema, node: &NodeType, visit: &mut dyn FnMut(&'s Schema, &NodeType, Step<'s>)) {
    if let Some(items) = schema.items_schema() {
        visit(items, &node.elements(), Step::Items);
    }
    if let Some(values) = schema.additional_properties_schema() {
        visit(values, &node.elements(), Step::Values);
    }
    for (name, property) in &schema.properties {
        let own = || cel_type(property, property.x_embedded_resource, Release::NEWEST);
        let below = escape(name).and_then(|name| node.property(&name)).filter(|below| below.decl.is_some());
        visit(property, &below.unwrap_or_else(own), Step::Property(name));
    }
}

/// Evaluates the rules of a schema on a value and its parts, each as an update of itself.
fn visit(schema: &Schema, node: &NodeType, value: &Value, rules: &mut Rules, answers: &mut Score, verbose: bool) {
    if value.is_null() {
        return;
    }
    for rule in &schema.x_validations {
        let Some(found) = rules.get_mut(&rule.rule).filter(|found| found.answers < VALUES) else {
            continue;
        };
        if let Some(right) = compare_rule(&rule.rule, rule.optional_old_self == Some(true), node, value, verbose) {
            answers.add(right);
            found.is_right = std::array::from_fn(|at| (found.answers == 0 || found.is_right[at]) && right[at]);
            found.answers += 1;
        }
    }
    children(schema, node, &mut |child, node, step| match (step, value) {
        (Step::Items, Value::Array(items)) => {
            for item in items {
                visit(child, node, item, rules, answers, verbose);
            }
        }
        (Step::Values, Value::Object(members)) => {
            for (name, member) in members {
                if !schema.properties.contains_key(name) {
                    visit(child, node, member, rules, answers, verbose);
                }
            }
        }
        (Step::Property(name), Value::Object(members)) => {
            if let Some(member) = members.get(name) {
                visit(child, node, member, rules, answers, verbose);
            }
        }
        _ => {}
    });
}

/// True for each engine with the right answer; `None` if the object, for example a wrong type in it, leaves crdx-cel without an answer.
fn compare_rule(source: &str, optional: bool, node: &NodeType, value: &Value, verbose: bool) -> Option<[bool; 3]> {
    let decl = node.decl.as_deref()?;
    let env = environment(node, optional)?;
    let checked = env.compile(source).ok()?;
    let program = Program::plan(&checked, &env).ok()?;
    let itself = crdx_cel::Value::from_json(value, decl).ok()?;
    let old = if optional { itself.clone().some() } else { itself.clone() };
    let (new_answer, old_answer) = (Answer::from(&itself), Answer::from(&old));
    if new_answer.is_other() {
        return None;
    }
    let outcome = program.run(&[Ok(itself), Ok(old)], PER_CALL_LIMIT, &Steps::of_request());
    let expected = outcome.result.map(|value| Answer::from(&value));
    let variable = |name: &str, value| Variable { name: name.to_owned(), type_: Type::Dyn, value: Some(value) };
    let variables = [variable("self", new_answer), variable("oldSelf", old_answer)];
    let question = Question { source, container: "", variables: &variables };
    let is_right = |engine: Engine| {
        let found = engine.run(&question);
        let is_right = match (&found, &expected) {
            (Ok(found), Ok(expected)) => found == expected,
            (Err(Failure::Evaluate(_)), Err(_)) => true,
            _ => false,
        };
        if verbose && !is_right {
            println!("{}: {source}: {found:?}, not {expected:?}", engine.name);
        }
        is_right
    };
    Some([is_right(CEL), is_right(KUBE_CEL), true])
}
