//! The order of keys: digits are compared as numbers, and letters sort after all other characters (`sorter.go`).

use crdx_value::{Map, Value};

/// The members in the order in which they are written.
pub fn sorted(members: &Map) -> Vec<(&String, &Value)> {
    let mut list: Vec<KeyedMember<'_>> = members.iter().map(|(k, v)| (k.chars().collect(), (k, v))).collect();
    // The order is not transitive for all keys, which may make the standard sort panic.
    merge_sort(&mut list);
    list.into_iter().map(|(_, member)| member).collect()
}

type KeyedMember<'m> = (Vec<char>, (&'m String, &'m Value));

fn merge_sort(list: &mut Vec<KeyedMember<'_>>) {
    if list.len() < 2 {
        return;
    }
    let mut right = list.split_off(list.len() / 2);
    merge_sort(list);
    merge_sort(&mut right);
    let mut left = std::mem::take(list).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        list.extend(if less(&b.0, &a.0) { right.next() } else { left.next() });
    }
    list.extend(left);
    list.extend(right);
}

/// Parses the digits at `at`; returns the number and the offset after it.
fn number(text: &[char], at: usize, mut value: i64) -> (i64, usize) {
    let mut end = at;
    while let Some(digit) = text.get(end).and_then(|c| c.to_digit(10)) {
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        end += 1;
    }
    (value, end)
}

fn less(left: &[char], right: &[char]) -> bool {
    let Some(at) = left.iter().zip(right).position(|(x, y)| x != y) else { return left.len() < right.len() };
    let (Some(x), Some(y)) = (left.get(at), right.get(at)) else { return false };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x < y,
        (false, false) => {}
        (_, y_is_letter) => return y_is_letter,
    }
    // A zero after other digits is not a leading zero.
    let mut start = 0;
    if *x == '0' || *y == '0' {
        let digits = left.get(..at).unwrap_or_default().iter().rev().take_while(|c| c.is_ascii_digit());
        start = i64::from(digits.into_iter().any(|c| *c != '0'));
    }
    // Compares by value, then number of digits, then character.
    (number(left, at, start), x) < (number(right, at, start), y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_keys_are_compared_as_numbers() {
        let keys = ["a10", "a2", "a", "A", "_", "01b", "1b", "a.b", "ab", "a20", "a100", "é"];
        let members: Map = keys.iter().map(|k| ((*k).to_owned(), Value::Null)).collect();
        let got: Vec<&str> = sorted(&members).into_iter().map(|(k, _)| k.as_str()).collect();
        assert_eq!(got, ["_", "1b", "01b", "A", "a", "a.b", "a2", "a10", "a20", "a100", "ab", "é"]);
    }
}
