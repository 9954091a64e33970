//! Tests a CRD that kube derives from a type: its defaults and rules, and that the type reads what the server stores. Needs the
//! feature `serde`.
//!
//! ```sh
//! cargo run -p crdx-examples --example derived_crd
//! ```

use crdx::{ApiServer, Error};
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a kite.
#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "toys.example.com", version = "v1", kind = "Kite", namespaced, derive = "PartialEq")]
#[kube(validation = "self.spec.tails <= self.spec.length / 10")]
#[derive(PartialEq)]
struct KiteSpec {
    /// The length of the line, in metres.
    #[schemars(range(max = 100))]
    length: i64,
    /// The number of tails.
    #[serde(default = "one")]
    tails: i64,
}

fn one() -> i64 {
    1
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = ApiServer::new();
    server.install(&Kite::crd())?;

    // The type and the server agree on what is stored.
    let kite = Kite::new("dragon", KiteSpec { length: 30, tails: 3 });
    let stored: Kite = server.create(&kite)?.to()?;
    assert_eq!(stored.spec, kite.spec);

    // The server sets the default of the CRD, also for clients that do not know the type.
    let short = "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: short}\nspec: {length: 10}\n";
    let stored: Kite = server.create(short)?.to()?;
    assert_eq!(stored.spec.tails, 1);

    // The server refuses what the type permits.
    let many = Kite::new("many", KiteSpec { length: 30, tails: 4 });
    let Err(Error::Status(status)) = server.create(&many) else { return Err("a rule is not enforced".into()) };
    println!("{}", status.message);
    assert_eq!(status.code, 422);
    Ok(())
}

#[test]
fn a_derived_crd_is_what_its_type_says() {
    main().unwrap();
}
