//! The checks of each level at a version (`registry.go`).

use super::checked_pod::CheckedPod;
use super::{Level, baseline, restricted};

/// A check; returns the violation, if there is one.
pub type CheckPod = fn(&CheckedPod<'_>) -> Option<String>;

/// A check of a level.
struct Check {
    /// The first version that has it.
    since: u64,
    /// The first version at which the level `restricted` has a check instead of it.
    replaced: u64,
    check: CheckPod,
}

const NEVER: u64 = u64::MAX;

const fn check(since: u64, replaced: u64, check: CheckPod) -> Check {
    Check { since, replaced, check }
}

/// The checks of the level `baseline`, sorted by their IDs as the server sorts them.
const BASELINE: [Check; 12] = [
    check(0, NEVER, baseline::app_armor),
    check(0, 22, baseline::capabilities),
    check(0, NEVER, baseline::host_namespaces),
    check(0, 0, baseline::host_path_volumes),
    check(0, NEVER, baseline::host_ports),
    check(34, NEVER, baseline::host_probes),
    check(0, NEVER, baseline::privileged),
    check(0, 35, baseline::proc_mount),
    check(0, NEVER, baseline::se_linux),
    check(0, 19, baseline::seccomp),
    check(0, NEVER, baseline::sysctls),
    check(0, NEVER, baseline::host_process),
];

/// The further checks of the level `restricted`.
const RESTRICTED: [Check; 7] = [
    check(8, NEVER, restricted::privilege_escalation),
    check(22, NEVER, restricted::capabilities),
    check(35, NEVER, restricted::proc_mount),
    check(0, NEVER, restricted::volumes),
    check(0, NEVER, restricted::run_as_non_root),
    check(23, NEVER, restricted::run_as_user),
    check(19, NEVER, restricted::seccomp),
];

/// The checks of a level at a version.
pub fn of(level: Level, version: u64) -> impl Iterator<Item = CheckPod> {
    let is_restricted = level == Level::Restricted;
    let baseline = BASELINE.iter().filter(move |check| !is_restricted || version < check.replaced);
    let baseline = baseline.filter(move |_| level != Level::Privileged);
    let restricted = RESTRICTED.iter().filter(move |_| is_restricted);
    baseline.chain(restricted).filter(move |check| check.since <= version).map(|check| check.check)
}
