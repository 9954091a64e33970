//! UIDs and generated names, computed deterministically from a seed.

use std::sync::atomic::{AtomicU64, Ordering};

/// A thread-safe pseudo-random number generator (`SplitMix64`).
#[derive(Debug)]
pub(in crate::server) struct Random(AtomicU64);

/// The characters of generated names, without vowels and easily confused characters.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// The length to which `generateName` is truncated, so that the name has at most 63 characters.
const MAX_PREFIX: usize = 58;

impl Random {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The state, for [`Random::reset`].
    pub fn state(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns to an earlier state, after which the same values follow.
    pub fn reset(&self, state: u64) {
        self.0.store(state, Ordering::Relaxed);
    }

    /// A number, as a seed.
    pub fn number(&self) -> u64 {
        self.next()
    }

    fn next(&self) -> u64 {
        let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Generates a version 4 UUID.
    pub fn uid(&self) -> String {
        let (a, b) = (self.next(), self.next());
        // The 13th digit is the version, the 17th the variant.
        let (a, b) = (a & !0xf000 | 0x4000, b & (u64::MAX >> 2) | (1 << 63));
        let mut out = String::with_capacity(36);
        for (bits, digits) in [(a >> 32, 8), (a >> 16, 4), (a, 4), (b >> 48, 4), (b, 12)] {
            if !out.is_empty() {
                out.push('-');
            }
            let digit = |at: u32| char::from_digit((bits >> (4 * at) & 0xf) as u32, 16).unwrap_or('0');
            out.extend((0..digits).rev().map(digit));
        }
        out
    }

    /// Generates a name: `prefix` followed by five characters (`names.SimpleNameGenerator`).
    pub fn name(&self, prefix: &str) -> String {
        let mut out = String::new();
        for c in prefix.chars() {
            if out.len() + c.len_utf8() > MAX_PREFIX {
                break;
            }
            out.push(c);
        }
        let mut bits = self.next();
        for _ in 0..5 {
            let letter = ALPHABET.get((bits % 27) as usize).copied().unwrap_or(b'b');
            out.push(char::from(letter));
            bits /= 27;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let (a, b) = (Random::new(7), Random::new(7));
        let uid = a.uid();
        assert_eq!(uid, b.uid());
        assert_ne!(uid, a.uid());
        assert_eq!((uid.len(), uid.as_bytes()[14]), (36, b'4'));
    }

    #[test]
    fn generated_names_fit_a_label() {
        let name = Random::new(1).name(&"x".repeat(70));
        assert_eq!(name.len(), 63);
        assert!(name.bytes().skip(58).all(|b| ALPHABET.contains(&b)));
    }
}
