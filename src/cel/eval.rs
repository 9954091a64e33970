//! Running expressions: a checked tree is planned once into a [`Program`], which any number of threads run at the same time.
//!
//! Follows cel-go's `interpreter` as Kubernetes sets it up: constant lists, maps and conversions are computed when the program is
//! planned, constant patterns compiled, `in` a constant list is a set; `&&`, `||` and `?:` do not evaluate more than they need to; every
//! step's cost is counted and the run ends once the limit is exceeded. Costs are the server's to the unit: what is counted where
//! follows `interpreter/runtimecost.go`, with the prices in the library's table.
//!
//! Surprises: the branches of `?:` are not charged for the variable they begin with, `or()` and `orValue()` are free, and so is `in` a
//! constant list.

mod attribute;
mod call;
mod constant;
mod cost;
mod fold;
mod guard;
mod node;
mod plan;
mod run;

use super::{
    ast::CheckedAst,
    env::Env,
    value::{Error, Value},
};
use crate::release::Minor;
use node::Node;

/// The most a single evaluation may cost (`celconfig.PerCallLimit`).
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// An expression ready to run.
#[derive(Debug)]
pub struct Program {
    root: Node,
    /// Places for variables and what loops hold.
    slots: usize,
    /// The version of the server, which decides costs.
    server: Minor,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The value, or why there is none.
    pub result: Result<Value<'a>, Error>,
    /// The runtime cost.
    pub cost: u64,
}

/// Computes the fields of an object when an expression selects them.
pub trait Fields<'a> {
    /// The value of a field; `None` if there is none of that name.
    fn get(&self, name: &str) -> Option<Result<Value<'a>, Error>>;
}

impl Program {
    /// Plans an expression checked in `env`. The error is what makes the server refuse to instantiate a program: a constant conversion
    /// that fails, a constant pattern that is none.
    pub fn plan(checked: &CheckedAst, env: &Env) -> Result<Self, String> {
        plan::plan(checked, env)
    }

    /// Runs with the values of the environment's variables, in their order; one that could not be read is an error where it is used.
    pub fn run<'a>(&'a self, variables: Vec<Result<Value<'a>, Error>>, limit: u64) -> Outcome<'a> {
        run::run(self, variables, None, limit)
    }

    /// The same with one who computes the fields of a variable that is [`super::value::Map::Lazy`].
    pub fn run_with<'a>(
        &'a self,
        variables: Vec<Result<Value<'a>, Error>>,
        fields: &dyn Fields<'a>,
        limit: u64,
    ) -> Outcome<'a> {
        run::run(self, variables, Some(fields), limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::{env::BaseEnv, types::Type};

    fn run(source: &str, limit: u64) -> (String, u64) {
        let env = Env::new(BaseEnv::for_stored(crate::release::Release::NEWEST))
            .with_variable("self", Type::list(Type::String));
        let checked = env.compile(source).map_err(|issues| issues.display()).expect(source);
        let program = Program::plan(&checked, &env).expect(source);
        let list = Value::strings(["a", "é"]);
        let outcome = program.run(vec![Ok(list)], limit);
        (outcome.result.map_or_else(|e| e.to_string(), |v| v.to_string()), outcome.cost)
    }

    #[test]
    fn programs_are_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Program>();
    }

    #[test]
    fn the_limit_ends_a_run_where_the_server_does() {
        let exceeded = "operation cancelled: actual cost limit exceeded";
        assert_eq!(run("self.all(x, x.size() < 5)", 14), ("true".to_owned(), 14));
        assert_eq!(run("self.all(x, x.size() < 5)", 13), (exceeded.to_owned(), 14));
        // Nothing absorbs it.
        assert_eq!(run("self.all(x, x.size() < 5) || true", 10).0, exceeded);
        assert_eq!(run("lists.range(1000000).size()", PER_CALL_LIMIT).0, exceeded);
        assert_eq!(
            run("lists.range(100000000).size()", PER_CALL_LIMIT).0,
            "lists.range: size 100000000 exceeds maximum allowed (1000000)"
        );
    }

    #[test]
    fn errors_are_absorbed_where_something_else_decides() {
        assert_eq!(run("1 / 0 == 1 || true", 100).0, "true");
        assert_eq!(run("1 / 0 == 1 && true", 100).0, "division by zero");
        assert_eq!(run("self.exists(x, self[x.size()] == 'é' || x == 'é')", 100).0, "true");
        assert_eq!(run("self.map(x, x + self[7])", 100).0, "index out of bounds: 7");
        assert_eq!(run("'a' in self ? self[0] : self[9]", 100).0, "\"a\"");
    }

    #[test]
    fn a_run_that_looks_at_too_much_is_interrupted() {
        // A list that holds itself twice, forty times over: cheap to make, too much to compare.
        let twins = "[1]".to_owned() + &".map(x, [x, x])".repeat(40);
        let interrupted = Error::Interrupted.to_string();
        for source in [
            format!("{twins} == {twins}"),
            format!("{twins} != {twins}"),
            format!("{twins} == {twins} || true"),
            format!("[{twins}].exists(x, x == {twins})"),
            format!("{twins} in [{twins}]"),
            format!("[{twins}, {twins}].distinct().size() == 1"),
        ] {
            assert_eq!(run(&source, PER_CALL_LIMIT).0, interrupted, "{source}");
        }
        // Each evaluation has its own fuel.
        assert_eq!(run("self == self", 100).0, "true");
    }

    #[test]
    fn loops_nest_and_bind() {
        assert_eq!(run("self.map(x, self.map(y, x + y))", 1000).0, r#"[["aa", "aé"], ["éa", "éé"]]"#);
        assert_eq!(run("self.sortBy(x, -x.size() - self.indexOf(x))", 1000).0, r#"["é", "a"]"#);
        assert_eq!(run("self.first().optMap(a, self.last().optMap(b, a + b).value()).value()", 1000).0, "\"aé\"");
        assert_eq!(run("self.transformMap(i, x, i > 0, x + x)", 1000).0, r#"{1: "éé"}"#);
        assert_eq!(run("[1, 2].filter(x, x > 1) + [3]", 1000).0, "[2, 3]");
    }

    struct OneField;

    impl<'a> Fields<'a> for OneField {
        fn get(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
            (name == "there").then_some(Ok(Value::Int(7)))
        }
    }

    fn evaluate_patch(source: &str) -> (String, u64) {
        let env = Env::new(BaseEnv::with_patch_types(crate::release::Release::NEWEST))
            .with_variable("variables", Type::Dyn)
            .with_variable("authorizer.requestResource", Type::Int);
        let checked = match env.compile(source) {
            Ok(checked) => checked,
            Err(issues) => return (issues.display(), 0),
        };
        let program = match Program::plan(&checked, &env) {
            Ok(program) => program,
            Err(error) => return (error, 0),
        };
        let lazy = Value::Map(crate::cel::value::Map::Lazy);
        let outcome = program.run_with(vec![Ok(lazy), Ok(Value::Int(3))], &OneField, PER_CALL_LIMIT);
        (outcome.result.map_or_else(|e| e.to_string(), |v| v.to_string()), outcome.cost)
    }

    #[test]
    fn patches_are_made_of_messages() {
        let made = evaluate_patch("Object{spec: Object.spec{size: 1, ?none: optional.none()}}");
        assert_eq!(made, ("Object{spec: Object.spec{size: 1}}".to_owned(), 81));
        assert_eq!(evaluate_patch("Object{a: 1}.a + 1").0, "2");
        assert_eq!(evaluate_patch("has(Object{a: 1}.b)").0, "false");
        let operation = "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c~'), value: {'x': 1}}]";
        assert_eq!(evaluate_patch(operation).0, r#"[JSONPatch{op: "add", path: "/a/b~1c~0", value: {"x": 1}}]"#);
        assert_eq!(evaluate_patch("[JSONPatch{op: dyn(1)}]").0, "unexpected type int64 for JSONPatchType 'op' field");
        assert!(
            evaluate_patch("[JSONPatch{op: 1}]")
                .0
                .contains("expected type of field 'op' is 'string' but provided type is 'int'")
        );
        assert_eq!(evaluate_patch("type(Object{}) == Object").0, "reference to undefined type: Object");
        // Other expressions know none of this.
        let env = Env::new(BaseEnv::for_stored(crate::release::Release::NEWEST));
        for source in ["Object{}", "Object.spec{}", "JSONPatch{}", "jsonpatch.escapeKey('a')"] {
            assert!(env.compile(source).unwrap_err().display().contains("undeclared reference"), "{source}");
        }
    }

    #[test]
    fn fields_are_computed_when_they_are_selected() {
        assert_eq!(evaluate_patch("variables.there + variables['there']"), ("14".to_owned(), 5));
        assert_eq!(evaluate_patch("variables.absent").0, "no such key: absent");
        assert_eq!(evaluate_patch("has(variables.absent) || has(variables.there)").0, "true");
        assert_eq!(evaluate_patch("authorizer.requestResource + 1").0, "4");
    }
}
