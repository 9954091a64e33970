//! Tests a CRD in YAML: a default, and a rule with the place of its error. Needs no feature.
//!
//! ```sh
//! cargo run -p crdx --example crd
//! ```

use crdx::{ApiServer, Error, Value};

fn main() -> Result<(), Error> {
    let server = ApiServer::new();
    server.install(include_str!("../tests/kites.yaml"))?;
    let kite = "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: dragon}\nspec: {}\n";
    let stored = server.create(kite)?;
    assert_eq!(stored.at(&["spec", "length"]), Some(&Value::Int(10)));
    let Err(Error::Status(status)) = server.create(kite.replace("{}", "{length: 500}")) else { return Ok(()) };
    println!("{}", status.message);
    Ok(())
}

#[test]
fn a_crd_is_tested() {
    main().unwrap();
}
