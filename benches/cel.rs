//! The benchmark `cel-go/main.go`, with the CEL implementation of this crate; `cel.py` runs both and compares them.
//!
//! usage: cel CORPUS compile|evaluate|patterns ROUNDS
//!
//! It reads the CRDs and samples of some projects and prepares everything that is not measured. Then, ROUNDS times, it
//! parses, checks and plans every rule (compile), or evaluates every rule on every matching node of the samples
//! (evaluate; patterns: only rules with regular expressions). It prints one line with the number of operations.

#![allow(clippy::expect_used)]

use crdx_cel::env::{BaseEnv, Env};
use crdx_cel::eval::{PER_CALL_LIMIT, Program};
use crdx_cel::value::Value as CelValue;
use crdx_server::rules::compile::NodeType;
use crdx_server::rules::{cel_type, escape::escape};
use crdx_server::schema::Schema;
use crdx_text::yaml;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROJECTS: [&str; 3] = ["gateway-api", "kueue", "karpenter-aws"];

/// A rule of a schema node, with its environment.
struct Rule {
    source: String,
    optional: bool,
    env: Env,
    program: Program,
}

impl Rule {
    fn compile(source: &str, env: &Env) -> Program {
        let checked = env.compile(source).map_err(|issues| issues.display()).expect("compiles");
        Program::plan(&checked, env).expect("can be planned")
    }
}

/// A schema node that has rules, or a descendant with rules.
struct Node {
    cel_type: NodeType,
    rules: Vec<Rule>,
    items: Option<Box<Node>>,
    additional: Option<Box<Node>>,
    properties: BTreeMap<String, Node>,
}

/// A rule with the values it is evaluated on.
type Site<'a> = (&'a Rule, CelValue<'a>, CelValue<'a>);

fn build(base: &Arc<BaseEnv>, schema: &Schema, here: NodeType) -> Node {
    let rules = schema.x_validations.iter().filter_map(|rule| {
        let optional = rule.optional_old_self == Some(true);
        let env = here.env(base, &here.decl.as_ref()?.cel_type, optional);
        let program = Rule::compile(&rule.rule, &env);
        Some(Rule { source: rule.rule.clone(), optional, env, program })
    });
    let child = |child: &Schema| Box::new(build(base, child, here.elements()));
    let property = |name: &String, child: &Schema| {
        let below = escape(name).and_then(|name| here.property(&name)).filter(|cel_type| cel_type.decl.is_some());
        (
            name.clone(),
            build(base, child, below.unwrap_or_else(|| cel_type(child, child.x_embedded_resource, Release::NEWEST))),
        )
    };
    Node {
        rules: rules.collect(),
        items: schema.items_schema().map(child),
        additional: schema.additional_properties_schema().map(child),
        properties: schema.properties.iter().map(|(name, child)| property(name, child)).collect(),
        cel_type: here,
    }
}

impl Node {
    fn rules<'a>(&'a self, out: &mut Vec<&'a Rule>) {
        out.extend(&self.rules);
        let children = self.items.iter().chain(&self.additional).map(|child| &**child);
        children.chain(self.properties.values()).for_each(|child| child.rules(out));
    }

    fn visit<'a>(&'a self, value: &'a Value, out: &mut Vec<Site<'a>>) {
        if value.is_null() {
            return;
        }
        if let Some(decl) = self.cel_type.decl.as_deref().filter(|_| !self.rules.is_empty()) {
            let itself = CelValue::from_json(value, decl).expect("has its type");
            for rule in &self.rules {
                let old = if rule.optional { itself.clone().some() } else { itself.clone() };
                out.push((rule, itself.clone(), old));
            }
        }
        match value {
            Value::Array(items) => {
                if let Some(child) = &self.items {
                    for item in items {
                        child.visit(item, out);
                    }
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.additional.iter().for_each(|child| child.visit(member, out));
                    self.properties.get(name).into_iter().for_each(|child| child.visit(member, out));
                }
            }
            _ => {}
        }
    }
}

fn read(directory: &Path) -> impl Iterator<Item = Value> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("exists").map(|f| f.expect("is there").path()).collect();
    files.sort();
    let wanted = files.into_iter().filter(|file| !file.to_string_lossy().ends_with(".experimental.yaml"));
    wanted.map(|file| yaml::read(&std::fs::read(file).expect("can be read")).expect("is YAML"))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [corpus, what, rounds] = &*words else {
        println!("usage: cel CORPUS compile|evaluate|patterns ROUNDS (cel.py runs it)");
        return;
    };
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let base = BaseEnv::for_stored(Release::NEWEST);
    let (mut kinds, mut objects) = (HashMap::new(), Vec::new());
    for project in PROJECTS.map(|project| Path::new(corpus).join(project)) {
        for crd in read(&project.join("crds")) {
            let text = |path: &[&str]| crd.str_at(path).expect("is there").to_owned();
            let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
            for version in crd.at(&["spec", "versions"]).and_then(Value::as_array).expect("is there") {
                let schema = version.at(&["schema", "openAPIV3Schema"]).expect("is there");
                let schema = Schema::from_value(schema).expect("is a schema");
                let name = version.str_at(&["name"]).expect("is there");
                kinds.insert(
                    format!("{group}/{name} {kind}"),
                    build(&base, &schema, cel_type(&schema, true, Release::NEWEST)),
                );
            }
        }
        objects.extend(read(&project.join("objects")));
    }
    let mut rules = Vec::new();
    for node in kinds.values() {
        node.rules(&mut rules);
    }
    let mut sites = Vec::new();
    for object in &objects {
        let text = |key| object.str_at(&[key]).expect("is there");
        if let Some(node) = kinds.get(&format!("{} {}", text("apiVersion"), text("kind"))) {
            node.visit(object, &mut sites);
        }
    }
    if what == "compile" {
        let mut done = 0;
        for _ in 0..rounds {
            for rule in &rules {
                std::hint::black_box(Rule::compile(&rule.source, &rule.env));
                done += 1;
            }
        }
        println!("{} rules compiled {done} times", rules.len());
        return;
    }
    if what == "patterns" {
        sites.retain(|(rule, ..)| rule.source.contains("matches(") || rule.source.contains("find("));
    }
    let (mut yes, mut no, mut failed, mut cost) = (0, 0, 0, 0);
    for _ in 0..rounds {
        for (rule, itself, old) in &sites {
            let outcome = rule.program.run(
                &[Ok(itself.clone()), Ok(old.clone())],
                PER_CALL_LIMIT,
                &crdx_value::steps::Steps::of_request(),
            );
            cost += outcome.cost;
            match outcome.result {
                Err(_) => failed += 1,
                Ok(CelValue::Bool(true)) => yes += 1,
                Ok(_) => no += 1,
            }
        }
    }
    println!("{} rules on nodes: {yes} true, {no} false, {failed} failed, cost {cost}", sites.len());
}
