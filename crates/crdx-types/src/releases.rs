//! The ranges of releases in the table of types, which the build script reads, too.

use std::ops::RangeInclusive;

/// A range of minor versions of Kubernetes 1.
pub type Releases = RangeInclusive<u32>;

/// Splits off the release range at the end of a line.
pub fn split_releases<'t>(line: &'t str, all: &Releases) -> (&'t str, Releases) {
    let found = line.rsplit_once('@').and_then(|(line, span)| Some((line.strip_suffix(' ')?, span)));
    let Some((line, span)) = found else { return (line, all.clone()) };
    let (from, to) = span.split_once('-').unwrap_or((span, ""));
    (line, from.parse().unwrap_or(*all.start())..=to.parse().unwrap_or(*all.end()))
}
