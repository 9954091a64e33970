//! `ValidatingWebhookConfiguration`s.

use crate::admissionregistration::{ADMISSION, OF_WEBHOOKS, WEBHOOKS};
use crate::declared_kind::DeclaredKind;

/// The strategy.
pub(crate) static VALIDATING_WEBHOOK_CONFIGURATION: DeclaredKind =
    DeclaredKind { behaviour: ADMISSION, columns: Some(WEBHOOKS), counts_empty: OF_WEBHOOKS, ..DeclaredKind::MOST };

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::KindStrategy;
    use crdx_text::json;
    use crdx_types::empties::Empties;

    #[test]
    fn its_strategy_sees_empty_lists() {
        let webhooks = json::read(br#"{"webhooks":[{"matchConditions":[]}]}"#).unwrap();
        let empties = Empties::from_value(&webhooks).unwrap();
        assert!(VALIDATING_WEBHOOK_CONFIGURATION.has_emptied(&webhooks, &empties));
    }
}
