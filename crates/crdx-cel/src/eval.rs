//! Evaluates expressions: a checked expression is planned once into a [`Program`], which any number of threads can run
//! concurrently.
//!
//! Follows cel-go's `interpreter` with the options that Kubernetes sets: constant lists, maps and conversions are
//! computed and constant patterns compiled when the program is planned; `in` with a constant list uses a set; `&&`,
//! `||` and `?:` short-circuit; the cost of every step is counted, and evaluation stops once the limit is exceeded.
//! Costs equal the server's exactly: the counting follows `interpreter/runtimecost.go`, with the prices of the library
//! tables.
//!
//! Anomalies of the server's runtime cost: a branch of `?:` is not charged for the variable it begins with, and `or()`,
//! `orValue()` and `in` with a constant list are free.

mod attribute;
mod call;
mod constant;
mod cost;
mod cost_limit;
mod fold;
mod guard;
mod node;
mod plan;
mod run;
mod step;

use super::{
    ast::CheckedAst,
    env::Env,
    value::{Error, Value},
};
pub use cost_limit::PER_CALL_LIMIT;
use crdx_value::GoError;
use crdx_value::release::Minor;
use crdx_value::steps::Steps;
use node::ProgramNode;

/// A planned expression.
#[derive(Debug)]
pub struct Program {
    root: ProgramNode,
    /// The number of the environment's variables.
    variables: usize,
    /// The number of slots for loop variables and accumulators, which come after the variables.
    slots: usize,
    /// The minor version of the server, which determines costs.
    server: Minor,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<'a> {
    /// The value, or the error.
    pub result: Result<Value<'a>, Error>,
    /// The runtime cost.
    pub cost: u64,
}

impl Outcome<'_> {
    /// An evaluation that did not begin.
    pub(super) fn failed(message: String) -> Self {
        Self { result: Err(Error::new(message)), cost: 0 }
    }
}

/// A callback that computes the fields of an object when an expression selects them.
pub trait LazyFields<'a> {
    /// The value of a field; `None` if the object has no such field.
    fn get(&self, name: &str) -> Option<Result<Value<'a>, Error>>;
}

impl Program {
    /// Plans an expression that was checked in `env`.
    ///
    /// # Errors
    /// Returns the message with which the server rejects the program: a constant conversion fails, or a constant
    /// pattern is invalid.
    pub fn plan(checked: &CheckedAst, env: &Env) -> Result<Self, GoError> {
        plan::plan(checked, env)
    }

    /// Evaluates the program with the values of the environment's variables, in the order of [`Env::variables`]. A
    /// variable given as an error causes this error where the expression uses it. Takes the steps of the evaluation from
    /// `steps`; without enough of them the result is [`Error::Interrupted`].
    pub fn run<'a>(&'a self, variables: &[Result<Value<'a>, Error>], limit: u64, steps: &Steps) -> Outcome<'a> {
        run::run(self, variables, None, limit, steps)
    }

    /// Like [`Program::run`]; `fields` computes the fields of variables that are
    /// [`super::value::Map::Lazy`]. Variables that the environment does not have are ignored.
    pub fn run_with<'a>(
        &'a self,
        variables: &[Result<Value<'a>, Error>],
        fields: &dyn LazyFields<'a>,
        limit: u64,
        steps: &Steps,
    ) -> Outcome<'a> {
        run::run(self, variables, Some(fields), limit, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{env::BaseEnv, types::Type};

    fn run(source: &str, limit: u64) -> (String, u64) {
        let env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::NEWEST))
            .with_variable("self", Type::list(Type::String));
        let checked = env.compile(source).map_err(|issues| issues.display()).expect(source);
        let program = Program::plan(&checked, &env).expect(source);
        let list = Value::strings(["a", "é"]);
        let outcome = program.run(&[Ok(list)], limit, &Steps::of_request());
        (outcome.result.map_or_else(|e| e.to_string(), |v| v.to_string()), outcome.cost)
    }

    #[test]
    fn programs_are_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Program>();
    }

    #[test]
    fn the_cost_limit_ends_a_run_like_on_the_server() {
        let exceeded = "operation cancelled: actual cost limit exceeded";
        assert_eq!(run("self.all(x, x.size() < 5)", 14), ("true".to_owned(), 14));
        assert_eq!(run("self.all(x, x.size() < 5)", 13), (exceeded.to_owned(), 14));
        // No operator absorbs the cost limit error.
        assert_eq!(run("self.all(x, x.size() < 5) || true", 10).0, exceeded);
        assert_eq!(run("lists.range(1000000).size()", PER_CALL_LIMIT).0, exceeded);
        assert_eq!(run("[[1]].flatten(9223372036854775807).size()", PER_CALL_LIMIT).0, exceeded);
        assert_eq!(
            run("lists.range(100000000).size()", PER_CALL_LIMIT).0,
            "lists.range: size 100000000 exceeds maximum allowed (1000000)"
        );
    }

    #[test]
    fn errors_are_absorbed_if_another_operand_is_decisive() {
        assert_eq!(run("1 / 0 == 1 || true", 100).0, "true");
        assert_eq!(run("1 / 0 == 1 && true", 100).0, "division by zero");
        assert_eq!(run("self.exists(x, self[x.size()] == 'é' || x == 'é')", 100).0, "true");
        assert_eq!(run("self.map(x, x + self[7])", 100).0, "index out of bounds: 7");
        assert_eq!(run("dyn(self)[self + self]", 100).0, "invalid qualifier type: *types.concatList");
        assert_eq!(run("'a' in self ? self[0] : self[9]", 100).0, "\"a\"");
    }

    #[test]
    fn a_run_over_the_visit_limit_is_interrupted() {
        // A list that contains itself twice, nested forty times: cheap to build, too large to compare.
        let twins = "[1]".to_owned() + &".map(x, [x, x])".repeat(40);
        let maps = "[{'a': 1}]".to_owned() + &".map(x, {'a': x, 'b': x})".repeat(40);
        let interrupted = Error::Interrupted.to_string();
        for source in [
            format!("{twins} == {twins}"),
            format!("{twins} != {twins}"),
            format!("{twins} == {twins} || true"),
            format!("[{twins}].exists(x, x == {twins})"),
            format!("{twins} in [{twins}]"),
            format!("[{twins}, {twins}].distinct().size() == 1"),
            format!("[{twins}].indexOf({twins}) == 0"),
            format!("sets.contains([{twins}], [{twins}])"),
            format!("sets.intersects([{twins}], [{twins}]) || true"),
            format!("sets.equivalent([{twins}], [{twins}])"),
            format!("'%s'.format([{twins}]) == ''"),
            format!("'%s'.format([{maps}]) == ''"),
            format!("{maps} == {maps}"),
            format!("{{dyn({twins}): 1}}.size() == 1"),
        ] {
            assert_eq!(run(&source, PER_CALL_LIMIT).0, interrupted, "{source}");
        }
        // Each evaluation has its own fuel.
        assert_eq!(run("self == self", 100).0, "true");
    }

    #[test]
    fn the_memory_of_computed_texts_and_lists_is_limited() {
        let interrupted = Error::Interrupted.to_string();
        let doubled = |how: &str| "['xxxxxxxx']".to_owned() + &format!(".map(s, {how})").repeat(40);
        let text = "lists.range(2000).map(i, 'x').join()";
        for source in [
            // These prices do not depend on the result.
            doubled("'%s%s'.format([s, s])"),
            doubled("dyn(s) + dyn(s)"),
            format!("lists.range(100).map(i, {text}.replace('', {text})).size() > 0"),
        ] {
            assert_eq!(run(&source, PER_CALL_LIMIT).0, interrupted, "{source}");
        }
    }

    #[test]
    fn all_evaluations_of_a_request_share_its_steps() {
        let env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::NEWEST));
        let checked = env.compile("lists.range(5000).all(i, i >= 0)").unwrap();
        let program = Program::plan(&checked, &env).unwrap();
        let steps = Steps::new(70_000);
        let results = (0..4).map(|_| program.run(&[], PER_CALL_LIMIT, &steps).result);
        let results: Vec<bool> = results.map(|result| matches!(result, Err(Error::Interrupted))).collect();
        assert_eq!((results, steps.left()), (vec![false, false, true, true], 0));
    }

    #[test]
    fn ranges_nest() {
        assert_eq!(run("self.map(x, self.map(y, x + y))", 1000).0, r#"[["aa", "aé"], ["éa", "éé"]]"#);
        assert_eq!(run("self.sortBy(x, -x.size() - self.indexOf(x))", 1000).0, r#"["é", "a"]"#);
        assert_eq!(run("self.first().optMap(a, self.last().optMap(b, a + b).value()).value()", 1000).0, "\"aé\"");
        assert_eq!(run("self.transformMap(i, x, i > 0, x + x)", 1000).0, r#"{1: "éé"}"#);
        assert_eq!(run("[1, 2].filter(x, x > 1) + [3]", 1000).0, "[2, 3]");
    }

    struct OneField;

    impl<'a> LazyFields<'a> for OneField {
        fn get(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
            (name == "there").then_some(Ok(Value::Int(7)))
        }
    }

    fn evaluate_patch(source: &str) -> (String, u64) {
        let env = Env::new(BaseEnv::with_patch_types(crdx_value::release::Release::NEWEST))
            .with_variable("variables", Type::Dyn)
            .with_variable("authorizer.requestResource", Type::Int);
        let checked = match env.compile(source) {
            Ok(checked) => checked,
            Err(issues) => return (issues.display(), 0),
        };
        let program = match Program::plan(&checked, &env) {
            Ok(program) => program,
            Err(error) => return (error.into(), 0),
        };
        let lazy = Value::Map(crate::value::Map::Lazy);
        let outcome = program.run_with(&[Ok(lazy), Ok(Value::Int(3))], &OneField, PER_CALL_LIMIT, &Steps::of_request());
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
        // Expressions of other environments do not have these types.
        let env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::NEWEST));
        for source in ["Object{}", "Object.spec{}", "JSONPatch{}", "jsonpatch.escapeKey('a')"] {
            assert!(env.compile(source).unwrap_err().display().contains("undeclared reference"), "{source}");
        }
    }

    /// Answers of real servers of 1.31 and 1.37.
    #[test]
    fn some_type_names_have_no_value() {
        let compare = |name: &str| evaluate_patch(&format!("type(1) == {name}")).0;
        for name in
            ["duration", "timestamp", "google.protobuf.Any", "google.protobuf.BoolValue", "google.protobuf.Struct"]
        {
            assert_eq!(compare(name), format!("reference to undefined type: {name}"));
        }
        for name in ["google.protobuf.Duration", "google.protobuf.Timestamp", "google.protobuf.Empty", "type", "net.IP"]
        {
            assert_eq!(compare(name), "false", "{name}");
        }
        let env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::new(31).unwrap()));
        let error = env.compile("type(1) == timestamp").unwrap_err().display();
        assert!(error.contains("no matching overload for '_==_' applied to '(type(int), timestamp)'"), "{error}");
        assert!(env.compile("dyn(timestamp) == 1").is_ok());
    }

    /// The answer of a release, for which `self` is `b+`.
    fn run_on(minor: u16, source: &str) -> String {
        let release = crdx_value::release::Release::new(minor).unwrap();
        let env = Env::new(BaseEnv::for_stored(release)).with_variable("self", Type::String);
        let program = Program::plan(&env.compile(source).unwrap(), &env).unwrap();
        let outcome = program.run(&[Ok(Value::string("b+"))], PER_CALL_LIMIT, &Steps::of_request());
        outcome.result.map_or_else(|error| error.to_string(), |value| value.to_string())
    }

    /// Answers of real servers of 1.35 and 1.37.
    #[test]
    fn computed_patterns_match_in_every_release() {
        for minor in [30, 36, 37] {
            assert_eq!(run_on(minor, "matches('abba', self)"), "true", "{minor}");
            assert_eq!(run_on(minor, "matches('aa', self)"), "false", "{minor}");
            assert_eq!(run_on(minor, "'abba'.matches(self) && 'abba'.find(self) == 'bb'"), "true", "{minor}");
            assert_eq!(run_on(minor, "matches(self, 'b')"), "true", "{minor}");
        }
    }

    /// The cost of an expression in a release.
    fn cost_on(minor: u16, source: &str) -> u64 {
        let env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::new(minor).unwrap()));
        let program = Program::plan(&env.compile(source).unwrap(), &env).unwrap();
        program.run(&[], PER_CALL_LIMIT, &Steps::of_request()).cost
    }

    /// Costs of a real server of 1.38. Before, all operands are evaluated, and the call is charged.
    #[test]
    fn a_failed_operand_ends_a_call_without_a_charge_since_1_38() {
        for (source, before, since) in [
            ("[[1][dyn(7)], 'a'.size()].size() == 1", 14, 3),
            ("{'a': [1][dyn(7)]}.size() == 1", 34, 3),
            ("[1][dyn(7)] + 'aa'.size() == 2", 5, 3),
            ("!dyn([1][dyn(7)])", 4, 3),
            ("[1][dyn(7)] == 1", 3, 3),
            ("[1, 2].slice(1, 9).size() == 0", 14, 12),
            ("lists.range(-1).size() == 0", 14, 12),
            ("[1].map(x, [1][dyn(7)]).size() == 0", 17, 5),
            ("[1].transformList(i, x, [1][dyn(7)]).size() == 0", 17, 5),
            ("{'a': 1}.transformMap(k, v, [1][dyn(7)]).size() == 0", 8, 6),
            ("[[1], [2]].flatten(2).size() == 2", 17, 17),
        ] {
            assert_eq!((cost_on(37, source), cost_on(38, source)), (before, since), "{source}");
        }
    }

    /// Answers of a real server of 1.38.
    #[test]
    fn empty_text_has_no_elements_since_1_38() {
        assert_eq!(run_on(37, "dyn('').map(x, x).size() == 0"), "got 'types.String', expected iterable type");
        assert_eq!(run_on(38, "dyn('').map(x, x).size() == 0"), "true");
        assert_eq!(run_on(38, "dyn('a').map(x, x).size() == 0"), "got 'types.String', expected iterable type");
    }

    /// Answers of a real server of 1.38.
    #[test]
    fn only_values_with_an_order_are_compared_with_nan() {
        assert_eq!(run_on(38, "'a' < dyn(double('NaN'))"), "false");
        assert_eq!(run_on(38, "dyn({}) < double('NaN')"), "no such overload: _<_");
    }

    /// Answers of real servers of 1.33 and 1.37, and of 1.30.
    #[test]
    fn values_that_are_not_optional_depend_on_the_release() {
        assert_eq!(run_on(36, "dyn(0).orValue(3)"), "0");
        assert_eq!(run_on(37, "dyn(0).orValue(3)"), "no such overload");
        assert_eq!(run_on(30, "dyn(optional.of(1)).asInteger()"), "no such overload: asInteger(optional)");
        assert_eq!(run_on(31, "dyn(optional.of(1)).asInteger()"), "no such overload: asInteger(optional_type)");
    }

    #[test]
    fn fields_are_computed_when_they_are_selected() {
        assert_eq!(evaluate_patch("variables.there + variables['there']"), ("14".to_owned(), 5));
        assert_eq!(evaluate_patch("variables.absent").0, "no such key: absent");
        assert_eq!(evaluate_patch("has(variables.absent) || has(variables.there)").0, "true");
        assert_eq!(evaluate_patch("authorizer.requestResource + 1").0, "4");
    }
}
