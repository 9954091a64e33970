//! `MutatingWebhookConfiguration`s.

use crate::admissionregistration::{ADMISSION, OF_WEBHOOKS, WEBHOOKS};
use crate::declared_kind::DeclaredKind;

/// The strategy.
pub(crate) static MUTATING_WEBHOOK_CONFIGURATION: DeclaredKind =
    DeclaredKind { behaviour: ADMISSION, columns: Some(WEBHOOKS), counts_empty: OF_WEBHOOKS, ..DeclaredKind::MOST };
