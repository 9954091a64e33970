//! Lists of indexes of an indexed Job, such as `1,3-5,7`.

use crdx_value::quote::go_quote;

/// The reason why a list of indexes is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// An interval has more than two parts.
    #[error("the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'", go_quote(.0))]
    Parts(String),
    /// A part is not an integer.
    #[error("cannot convert string to integer for index: {}", go_quote(.0))]
    NoInteger(String),
    /// An index is not below the number of completions.
    #[error("too large index: {}", go_quote(.0))]
    TooLarge(String),
    /// An index is not greater than the previous one.
    #[error("non-increasing order, previous: {0}, current: {1}")]
    Order(i64, i64),
}

/// `validateIndexesFormat`
pub fn check(list: &str, completions: i64) -> Result<(), IndexError> {
    let mut last = None;
    for interval in list.split(',').filter(|_| !list.is_empty()) {
        let (from, to) = parse(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= from) {
            return Err(IndexError::Order(last, from));
        }
        last = Some(to);
    }
    Ok(())
}

/// `parseIndexInterval`
fn parse(interval: &str, completions: i64) -> Result<(i64, i64), IndexError> {
    let index = |text: &str| {
        // `strconv.Atoi`
        let index = text.parse::<i64>().map_err(|_| IndexError::NoInteger(text.to_owned()))?;
        if index < completions { Ok(index) } else { Err(IndexError::TooLarge(text.to_owned())) }
    };
    match interval.split_once('-') {
        None => index(interval).map(|index| (index, index)),
        Some((_, to)) if to.contains('-') => Err(IndexError::Parts(interval.to_owned())),
        Some((from, to)) => match (index(from)?, index(to)?) {
            (from, to) if from >= to => Err(IndexError::Order(from, to)),
            limits => Ok(limits),
        },
    }
}

/// The first index that is in both lists (`validateFailedIndexesNotOverlapCompleted`). Invalid intervals are skipped.
pub fn overlap(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let intervals = |list: &str| {
        let all = list.split(',').filter(|_| !list.is_empty()).filter_map(|one| parse(one, completions).ok());
        all.collect::<Vec<_>>()
    };
    let (completed, failed) = (intervals(completed), intervals(failed));
    let (mut completed, mut failed) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some((from, to)), Some((failed_from, failed_to))) = (completed.peek(), failed.peek()) {
        if from <= failed_to && failed_from <= to {
            return Some(*from.max(failed_from));
        }
        if from <= failed_from {
            completed.next();
        } else {
            failed.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_increase() {
        assert_eq!(check("", 5), Ok(()));
        assert_eq!(check("0,2-3,4", 5), Ok(()));
        assert_eq!(check("2,1", 5).unwrap_err().to_string(), "non-increasing order, previous: 2, current: 1");
        assert_eq!(check("3-3", 5), Err(IndexError::Order(3, 3)));
        assert_eq!(check("1-2-3", 5), Err(IndexError::Parts("1-2-3".to_owned())));
        assert_eq!(check("1,,2", 5), Err(IndexError::NoInteger(String::new())));
        assert_eq!(check("5", 5), Err(IndexError::TooLarge("5".to_owned())));
    }

    #[test]
    fn lists_may_overlap_in_an_interval() {
        assert_eq!(overlap("0-2,4", "3", 5), None);
        assert_eq!(overlap("0-2,4", "1,4", 5), Some(1));
        assert_eq!(overlap("x,4", "y,4", 5), Some(4));
        assert_eq!(overlap("", "4", 5), None);
    }
}
