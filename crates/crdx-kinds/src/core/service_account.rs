//! `ServiceAccount`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED};
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, PrinterColumn};
use crdx_value::{Map, Value};

/// The strategy.
#[derive(Debug)]
pub(crate) struct ServiceAccount;

/// The facts about the kind.
static FACTS: DeclaredKind =
    DeclaredKind { behaviour: Behaviour::RETURNED, columns: Some(COLUMNS), ..DeclaredKind::MOST };

impl KindStrategy for ServiceAccount {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            clean_secret_references(object);
        }
    }

    fn prepare_update(&self, object: &mut Value, _: &Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            clean_secret_references(object);
        }
    }
}

static COLUMNS: &[PrinterColumn] = &[NAMED, AGE];

/// Keeps the names of the Secrets of a `ServiceAccount` only (`cleanSecretReferences`).
fn clean_secret_references(account: &mut Value) {
    let Some(Value::Array(secrets)) = account.get_mut("secrets") else { return };
    for secret in secrets {
        let name = secret.get("name").cloned();
        *secret = Value::Object(name.into_iter().map(|name| ("name".to_owned(), name)).collect::<Map>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_service_account_keeps_the_names_of_its_secrets() {
        let mut account = read(r#"{"secrets":[{"name":"a","namespace":"b","kind":"Secret"},{"uid":"u"}]}"#);
        clean_secret_references(&mut account);
        assert_eq!(account, read(r#"{"secrets":[{"name":"a"},{}]}"#));
    }
}
