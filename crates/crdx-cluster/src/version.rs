//! The version of the cluster, and the release that is simulated for it.

use super::{Connection, Error, JSON};
use crdx_value::Value;
use crdx_value::release::Release;

/// The release to simulate for a cluster, and why it is not the cluster's own version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    pub release: Release,
    /// A note for the user about the choice.
    pub note: Option<String>,
}

/// The release to simulate for the cluster of `connection`; the newest one if the cluster does not report its version.
pub fn simulated(connection: Result<&Connection, Error>) -> Simulated {
    let version = connection.and_then(Connection::version);
    let unreadable = |reason: &str| Simulated {
        release: Release::NEWEST,
        note: Some(format!(
            "the cluster's version could not be read ({reason}), so Kubernetes {} is simulated; \
             --kubernetes-version selects another",
            Release::NEWEST
        )),
    };
    match version {
        Err(error) => unreadable(&error.message),
        Ok(None) => unreadable("it serves no /version"),
        Ok(Some(version)) => {
            read(&version).unwrap_or_else(|| unreadable("its /version does not have the form of Kubernetes"))
        }
    }
}

impl Connection {
    /// Returns the answer of `/version`, which is requested once.
    ///
    /// # Errors
    /// Returns the reason why the cluster does not answer.
    pub fn version(&self) -> Result<Option<Value>, Error> {
        self.version.get_or_init(|| self.get("/version", JSON)).clone()
    }
}

/// Reads `version.Info` (`k8s.io/apimachinery/pkg/version`); providers write minors such as `33+`.
fn read(version: &Value) -> Option<Simulated> {
    let number = |key: &str| -> Option<u16> {
        let digits = version.str_at(&[key])?.trim_end_matches('+');
        digits.parse().ok()
    };
    let (major, minor) = (number("major")?, number("minor")?);
    let release = match major {
        1 => Release::nearest(minor),
        0 => Release::OLDEST,
        _ => Release::NEWEST,
    };
    let own = format!("{major}.{minor}");
    let which = if release == Release::OLDEST { "oldest" } else { "newest" };
    let note = || format!("the cluster runs Kubernetes {own}; {release} is simulated, the {which} supported version");
    Some(Simulated { release, note: (own != release.minor().to_string()).then(note) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn unknown_versions_are_answered_as_the_nearest() {
        let of =
            |major: &str, minor: &str| read(&object([("major", Value::from(major)), ("minor", Value::from(minor))]));
        let known = of("1", "33+").unwrap();
        assert_eq!((known.release.to_string(), known.note), ("1.33".to_owned(), None));
        let newer = of("1", "99").unwrap();
        assert_eq!(newer.release, Release::NEWEST);
        let note =
            format!("the cluster runs Kubernetes 1.99; {} is simulated, the newest supported version", newer.release);
        assert_eq!(newer.note, Some(note));
        // A beta is simulated for its own clusters.
        let beta = of("1", "38+").unwrap();
        assert_eq!((beta.release.minor().number(), beta.note), (38, None));
        let older = of("1", "22").unwrap();
        assert_eq!(older.release, Release::OLDEST);
        assert!(older.note.unwrap().contains("1.30 is simulated, the oldest"));
        assert_eq!(of("2", "0").unwrap().release, Release::NEWEST);
        assert_eq!((of("1", ""), of("one", "33"), of("1", "3x")), (None, None, None));
    }
}
