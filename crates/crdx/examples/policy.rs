//! Tests admission policies with a table: an object, the user who creates it, and the answer. Needs the feature `policies`.
//!
//! ```sh
//! cargo run -p crdx --example policy --features policies
//! ```

use crdx::{ApiServer, Error, RequestOptions};

/// The spec of a kite, the group of its user, the code of the answer, and the colour that is stored or a part of the message.
const TABLE: &[(&str, &str, u16, &str)] = &[
    ("{colour: blue}", "pilots", 201, "red"),
    ("{length: 20}", "pilots", 201, "red"),
    ("{length: 21}", "pilots", 422, "a kite of this park has at most 20 metres"),
    ("{length: 5}", "guests", 422, "guests fly no kites"),
    // The schema comes first.
    ("{length: 0}", "guests", 422, "should be greater than or equal to 1"),
];

fn main() -> Result<(), Error> {
    let server = ApiServer::builder().policies().build();
    server.install(include_str!("../tests/kites.yaml"))?;
    server.install(include_str!("../tests/policies.yaml"))?;
    for (spec, group, code, text) in TABLE {
        let somebody = server.with(RequestOptions::default().user("somebody", [*group]).dry_run());
        let kite = format!("apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {{name: dragon}}\nspec: {spec}\n");
        let answer = match somebody.create(kite) {
            Ok(created) => (created.code, created.object.str_at(&["spec", "colour"]).unwrap_or_default().to_owned()),
            Err(Error::Status(status)) => (status.code, status.message),
            Err(other) => return Err(other),
        };
        assert!(answer.0 == *code && answer.1.contains(text), "{spec}, {group}: {answer:?}");
    }
    println!("{} rows", TABLE.len());
    Ok(())
}

#[test]
fn every_row_has_its_answer() {
    main().unwrap();
}
