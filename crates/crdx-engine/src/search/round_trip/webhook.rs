//! The conversion webhook of a CRD, and the address at which it is called.

use crdx_server::crd::CustomResourceDefinition;
use crdx_server::server::{Call, CallOutcome};
use crdx_value::base64::Encoding;
use crdx_value::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// Calls webhooks.
pub trait WebhookCaller: Send + Sync + fmt::Debug {
    /// Makes a call within its timeout.
    fn call(&self, call: &Call) -> CallOutcome;
}

/// The address that replaces the one of the CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookAddress {
    /// A whole URL.
    Url(String),
    /// The host and port of the Service of the CRD, whose path is kept.
    Host(String),
}

/// The conversion webhook that is called for CRDs with the strategy `Webhook`. By default none is.
#[derive(Clone, Debug, Default)]
pub struct ConversionWebhook {
    /// The address and the caller.
    pub called: Option<(WebhookAddress, Arc<dyn WebhookCaller>)>,
    /// The certificate authorities in PEM; `None` for those of the CRD.
    pub authorities: Option<Vec<u8>>,
}

/// The reason why a webhook is not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWebhook {
    /// No address is given.
    #[error(
        "a webhook converts objects of {crd} ({webhook}), and webhooks are called only if asked: give the address of a server that runs \
         its code with --webhook-url URL{or_host}"
    )]
    NotCalled {
        /// The name of the CRD.
        crd: String,
        /// The Service or URL of the CRD.
        webhook: String,
        /// The other flag, if it applies.
        or_host: &'static str,
    },
    /// `--webhook-host` is given, and the CRD names a URL.
    #[error(
        "the conversion webhook of {crd} is not a Service but the URL {url}: give --webhook-url in place of --webhook-host"
    )]
    NoService {
        /// The name of the CRD.
        crd: String,
        /// The URL of the CRD.
        url: String,
    },
}

impl ConversionWebhook {
    /// Returns the CRD with the address at which its webhook is called, and its caller; `None` if objects are converted without a webhook.
    ///
    /// # Errors
    /// Returns an error if the webhook may not be called, or no Service is replaced.
    pub(super) fn of_crd(
        &self,
        definition: &Value,
        crd: &CustomResourceDefinition,
    ) -> Result<Option<(Value, &dyn WebhookCaller)>, NoWebhook> {
        if !crd.spec.converts_by_webhook() {
            return Ok(None);
        }
        let config = crd.spec.conversion.as_ref().and_then(|conversion| conversion.client_config.clone());
        let config = config.unwrap_or_default();
        let name = || crd.name().to_owned();
        let url = || config.url.clone().unwrap_or_default();
        let Some((address, caller)) = &self.called else {
            return Err(match &config.service {
                Some(service) => NoWebhook::NotCalled {
                    crd: name(),
                    webhook: format!("Service {}/{}", service.namespace, service.name),
                    or_host: " or --webhook-host HOST:PORT",
                },
                None => NoWebhook::NotCalled { crd: name(), webhook: url(), or_host: "" },
            });
        };
        let url = match (address, &config.service) {
            (WebhookAddress::Url(url), _) => url.clone(),
            (WebhookAddress::Host(host), Some(service)) => {
                let path = service.path.as_deref().unwrap_or_default().trim_start_matches('/');
                format!("https://{host}/{path}")
            }
            (WebhookAddress::Host(_), None) => return Err(NoWebhook::NoService { crd: name(), url: url() }),
        };
        let mut changed = definition.clone();
        if let Some(config) = client_config(&mut changed) {
            config.remove("service");
            config.insert("url".to_owned(), url.into());
            if let Some(authorities) = &self.authorities {
                config.insert("caBundle".to_owned(), Encoding::Standard.encode(authorities).into());
            }
        }
        Ok(Some((changed, &**caller)))
    }
}

fn client_config(definition: &mut Value) -> Option<&mut Map> {
    let path = ["spec", "conversion", "webhook", "clientConfig"];
    path.iter().try_fold(definition, |value, name| value.get_mut(name))?.as_object_mut()
}
