//! Compares short texts.

/// Returns true if two texts are equal. Faster than `==` for texts of at most 16 bytes, as most names of fields are: they
/// are compared as two numbers that may overlap, without a call of a function.
#[inline]
pub fn equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len()
        && match one.len() {
            0 => true,
            1 => one.first() == other.first(),
            2..4 => both_ends_are_equal::<2>(one, other),
            4..8 => both_ends_are_equal::<4>(one, other),
            8..=16 => both_ends_are_equal::<8>(one, other),
            _ => one == other,
        }
}

#[inline]
fn both_ends_are_equal<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk::<N>() && one.last_chunk::<N>() == other.last_chunk::<N>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_are_equal_to_themselves_only() {
        let text: String = ('a'..='z').collect();
        for length in 0..=text.len() {
            let one: String = text.chars().take(length).collect();
            assert!(equal(&one, text.get(..length).unwrap()));
            assert!(!equal(&one, &format!("{one}-")));
            for at in 0..length {
                let mut other = one.clone().into_bytes();
                other[at] = b'-';
                assert!(!equal(&one, std::str::from_utf8(&other).unwrap()), "{one} {at}");
            }
        }
    }
}
