//! Numbers in few bytes: seven bits in each byte, lowest first. All bytes but the last have the eighth bit.

/// Appends a number.
pub fn write(out: &mut impl Extend<u8>, mut number: u64) {
    while number >= 0x80 {
        out.extend([number as u8 | 0x80]);
        number >>= 7;
    }
    out.extend([number as u8]);
}

/// Reads a number; `None` if the bytes end, or are too many for one.
pub fn read(mut bytes: impl Iterator<Item = u8>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            write(&mut bytes, number);
        }
        assert_eq!(bytes.len(), 1 + 1 + 1 + 2 + 2 + 3 + 10);
        let mut bytes = bytes.into_iter();
        assert!(numbers.iter().all(|number| read(&mut bytes) == Some(*number)));
        assert_eq!(read(bytes), None);
    }
}
