//! Round trips of `test`: the flags, and the CRDs of `--round-trip`.

use crate::commands::error::Error;
use crate::commands::flags::error::ArgumentError;
use clap::Args as ClapArgs;
use crdx_engine::search::round_trip::webhook::{ConversionWebhook, WebhookAddress, WebhookCaller};
use crdx_engine::suites::round_trips::RoundTripSetup;
use crdx_output::printable::complain;
use crdx_runner::suites::load::Library;
use crdx_runner::suites::plan::{Planned, Selection};
use crdx_runner::suites::round_trips::plan;
use crdx_server::server::Timestamp;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

/// The flags of round trips.
#[derive(Clone, Debug, ClapArgs)]
pub struct RoundTrips {
    /// The paths are CRDs: write objects of each served version, read them in each other version, write them back, and compare
    #[arg(long, conflicts_with_all = ["init", "update", "crds", "default_expected", "coverage", "min_coverage"], help_heading = "Round trips")]
    pub round_trip: bool,
    /// Call the conversion webhook at this URL instead of the address in the CRD
    #[arg(long, value_name = "URL", value_parser = webhook_url, conflicts_with = "webhook_host", help_heading = "Round trips")]
    pub webhook_url: Option<String>,
    /// Call the conversion webhook at this host instead of its Service; the path is that of the CRD
    #[arg(long, value_name = "HOST:PORT", value_parser = webhook_host, help_heading = "Round trips")]
    pub webhook_host: Option<String>,
    /// The certificate authorities of the webhook in PEM [default: caBundle of the CRD, or those of this machine]
    #[arg(long, value_name = "FILE", help_heading = "Round trips")]
    pub webhook_ca: Option<PathBuf>,
    /// The number of objects to try for each version [default: tries of the suite, or 200]
    #[arg(long, value_name = "N", help_heading = "Round trips")]
    pub tries: Option<NonZeroU32>,
    /// The seed of the random part of the search; the same seed gives the same objects [default: seed of the suite, or 0]
    #[arg(long, value_name = "N", help_heading = "Round trips")]
    pub seed: Option<u64>,
    /// Also count values that are only written differently, such as an empty list that is dropped
    #[arg(long, help_heading = "Round trips")]
    pub exact: bool,
}

fn webhook_url(text: &str) -> Result<String, ArgumentError> {
    let is_url = text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    if is_url { Ok(text.to_owned()) } else { Err(ArgumentError::Form("https://HOST:PORT/PATH")) }
}

fn webhook_host(text: &str) -> Result<String, ArgumentError> {
    let is_host = |host: &str| !host.is_empty() && !host.contains(['/', '@', '?', '#']);
    match text.rsplit_once(':') {
        Some((host, port)) if is_host(host) && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err(ArgumentError::Form("HOST:PORT, such as 127.0.0.1:9443")),
    }
}

impl RoundTrips {
    /// Returns how round trips are made.
    ///
    /// # Errors
    /// The file of certificate authorities cannot be read, or this build calls no webhooks.
    pub fn setup(&self) -> Result<RoundTripSetup, Error> {
        let url = self.webhook_url.clone().map(WebhookAddress::Url);
        let address = url.or_else(|| self.webhook_host.clone().map(WebhookAddress::Host));
        let authorities = self.webhook_ca.as_ref().map(|path| {
            let read = crdx_files::open::read_regular(path);
            read.map_err(|error| Error::usage(format!("cannot read {}: {error}", path.display())))
        });
        Ok(RoundTripSetup {
            webhook: ConversionWebhook {
                called: address.map(|address| Ok::<_, Error>((address, caller()?))).transpose()?,
                authorities: authorities.transpose()?,
            },
            tries: self.tries.map(|tries| usize::try_from(tries.get()).unwrap_or(usize::MAX)),
            seed: self.seed,
            exact: self.exact,
        })
    }
}

#[cfg(feature = "serve")]
fn caller() -> Result<Arc<dyn WebhookCaller>, Error> {
    use crdx_server::server::{Call, CallOutcome};

    #[derive(Debug)]
    struct Caller(crdx_serve::BlockingWebhooks);

    impl WebhookCaller for Caller {
        fn call(&self, call: &Call) -> CallOutcome {
            self.0.call(call)
        }
    }

    Ok(Arc::new(Caller(crdx_serve::BlockingWebhooks::new()?)))
}

#[cfg(not(feature = "serve"))]
fn caller() -> Result<Arc<dyn WebhookCaller>, Error> {
    Err(Error::usage("this build calls no webhooks: it lacks the feature `serve`"))
}

/// Returns the runs of the CRDs of `--round-trip`, and reports the CRDs that need none.
pub fn planned(paths: &[String], selection: &Selection, library: &mut Library, now: Timestamp) -> Vec<Planned> {
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { here.as_slice() } else { paths };
    let plan = plan(paths, selection, library, now);
    if plan.crds == 0 {
        library.problems.push(format!("there is no CRD in {}: give a file or directory with CRDs", paths.join(", ")));
    }
    match plan.single_version.as_slice() {
        [] => {}
        [one] => complain!("note: {one} has one version: its objects are never converted"),
        many => complain!("note: {} CRDs have one version: their objects are never converted", many.len()),
    }
    plan.planned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_webhooks_have_a_form() {
        assert!(webhook_url("https://127.0.0.1:9443/convert").is_ok());
        assert!(webhook_host("127.0.0.1:9443").is_ok() && webhook_host("[::1]:9443").is_ok());
        for text in ["http://127.0.0.1/", "https://", "https:///convert", "127.0.0.1:9443"] {
            assert!(webhook_url(text).is_err(), "{text}");
        }
        for text in ["127.0.0.1", ":9443", "host:port", "https://host:1", "host/path:1"] {
            assert!(webhook_host(text).is_err(), "{text}");
        }
    }
}
