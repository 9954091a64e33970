//! Compiles an expression, estimates its cost, and evaluates it for an object.
//!
//! ```sh
//! cargo run -p crdx-cel --example expressions
//! ```

use crdx_cel::{CompileError, DeclField, DeclType, Environment, Release};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The types of a schema, with its limits.
    let limits = DeclType::map(DeclType::string().with_max(20)).with_max(10);
    let fields = [DeclField::required("replicas", DeclType::int()), DeclField::optional("limits", limits)];
    let environment = Environment::new("1.34".parse::<Release>()?).with("self", DeclType::object("Spec", fields));

    let rule = "self.replicas <= 5 && self.limits.all(name, quantity(self.limits[name]).isLessThan(quantity('4Gi')))";
    let rule = environment.compile(rule)?;
    println!("{}, cost {} to {}", rule.result_type(), rule.cost().min, rule.cost().max);

    let object = crdx_text::yaml::read(b"replicas: 3\nlimits: {memory: 2Gi, storage: 3Gi}\n")?;
    let outcome = rule.evaluate(&[("self", &object)]);
    assert!(rule.cost().min <= outcome.cost && outcome.cost <= rule.cost().max);
    println!("{}, cost {}", outcome.result?, outcome.cost);

    // Errors have their places.
    let Err(CompileError::Check(issues)) = environment.compile("self.replica <= 5") else {
        return Err("it compiles".into());
    };
    println!("{issues}");
    for issue in issues.as_slice() {
        assert_eq!((issue.location.line, issue.location.column), (1, 4));
        assert_eq!(issue.message, "undefined field 'replica'");
    }

    // Functions are those of the release: 1.30 has no semantic versions.
    assert!(environment.compile("semver('1.2.3').major() == 1").is_ok());
    assert!(Environment::new("1.30".parse()?).compile("semver('1.2.3').major() == 1").is_err());
    Ok(())
}

#[test]
fn expressions_are_evaluated() {
    main().unwrap();
}
