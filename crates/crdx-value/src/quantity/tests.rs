use super::parse::{NUMBER, USUAL_SUFFIXES};
use super::*;
use crate::release::{V1_37, V1_38};

fn q(text: &str) -> Quantity {
    Quantity::parse(text, V1_37).expect(text)
}

/// Texts of `inf.Dec.String`
#[test]
fn decimal_texts_have_the_digits_of_the_representation() {
    let texts = [("1", "1"), ("1000m", "1.000"), ("1.50", "1.50"), ("-5m", "-0.005"), ("2k", "2000"), ("0", "0")];
    for (quantity, text) in texts {
        assert_eq!(q(quantity).decimal_text(), text, "{quantity}");
    }
    assert_eq!(q("1.5Gi").decimal_text(), "1610612736.000000000");
    assert_eq!(q("10e999999").decimal_text(), q("1e1000000").decimal_text());
    assert!(q("1e1000000").decimal_text().len() < 20);
}

#[test]
fn whole_quantities_have_no_fraction() {
    for (quantity, is_whole) in [("1", true), ("1000m", true), ("1500m", false), ("1.5Gi", true), ("-1n", false)] {
        assert_eq!(q(quantity).is_whole(), is_whole, "{quantity}");
    }
    assert_eq!(Quantity::from_milli(1500), q("1.5"));
}

#[test]
fn values_are_rounded_up_as_go_does() {
    let both = |text: &str| (q(text).value(), q(text).milli_value());
    assert_eq!(both("1500m"), (2, 1500));
    assert_eq!(both("-1500m"), (-2, -1500));
    assert_eq!(both("9007199254740993"), (9_007_199_254_740_993, 9_007_199_254_740_993_000));
    assert_eq!(both("9007199254740993100m"), (9_007_199_254_740_994, 9_007_199_254_740_993_100));
    assert_eq!(both("-0.5Ki"), (-512, -512_000));
    // These do not fit in 64 bits.
    assert_eq!(both("1e300"), (0, 0));
    assert_eq!(both("1000000000000000000000"), (3_875_820_019_684_212_736, 2_003_764_205_206_896_640));
}

#[test]
fn usual_quantities_are_canonical_if_they_are_shown_as_they_are_written() {
    for suffix in USUAL_SUFFIXES.map(|(suffix, _)| suffix).into_iter().chain(["", "n", "Pi", "E", "x", "e3"]) {
        for number in
            ["0", "00", "1", "8", "007", "10", "999", "1000", "1001", "1024", "2048", "1500", "999999", "1000000"]
        {
            let text = format!("{number}{suffix}");
            let is_shown = Quantity::parse(&text, V1_37).is_ok_and(|parsed| parsed.to_string() == text);
            let is_known = number.len() <= 6 && USUAL_SUFFIXES.iter().any(|(known, _)| *known == suffix);
            // `007` is kept, but not canonical, and zero has no suffix.
            let is_usual = is_known && (!number.starts_with('0') || text == "0");
            assert_eq!(Quantity::is_canonical(&text), is_shown && is_usual, "{text}");
        }
    }
    for text in ["", "-1", "1.5", "m", "+1", " 1", "1 "] {
        assert!(!Quantity::is_canonical(text), "{text}");
    }
}

/// Results of Go.
#[test]
fn negative_values_above_64_bits_lose_bits_before_they_are_rounded() {
    for (text, value, milli) in [
        ("-9223372036854775808", 0, 0),
        ("-9223372036854775807", 1, 1000),
        ("-9223372036854775809", -1, -1000),
        ("-12345678901234567890", -5_097_733_591, -5_097_733_592_001),
        ("-9223372036854775808.5", 1, -500),
        ("-9223372036854775808m", 0, 0),
        ("-1500.5Ki", -1_536_512, -1_536_512_000),
        ("-1e20", 0, 0),
        ("9223372036854775808", i64::MIN, 0),
    ] {
        assert_eq!((q(text).value(), q(text).milli_value()), (value, milli), "{text}");
        assert_eq!(q(text).sign(), if text.starts_with('-') { -1 } else { 1 });
    }
    assert_eq!(q("-9223372036854775808").to_string(), "-9223372036854775808");
}

/// Results of Go.
#[test]
fn the_minimum_of_64_bits_is_subtracted_as_its_negation_which_is_itself() {
    let least = Quantity::from_int(i64::MIN);
    let difference = |text: &str| q(text).sub(&least).unwrap().to_string();
    for (text, shown) in [
        ("5", "-9223372036854775803"),
        ("0", "-9223372036854775808"),
        ("5k", "-9223372036854770808"),
        ("-1", "9223372036854775807"),
        ("1.5", "9223372036854775809500m"),
        ("9223372036854775807", "18446744073709551615"),
        ("-9223372036854775808", "0"),
    ] {
        assert_eq!(difference(text), shown, "{text}");
    }
    assert_eq!(q("5").add(&least).unwrap().to_string(), "-9223372036854775803");
}

/// Answers of a real server.
#[test]
fn texts_like_the_canonical_form_are_kept() {
    for text in ["+1", "01", "1E3", "1e+3", "+1Ki", "1e0", "1.", "01Gi", "1e+300", "12e+9", "1.234", "-01", "0"] {
        assert_eq!(q(text).to_string(), text);
    }
    for (text, shown) in [
        ("1000", "1k"),
        ("1.0", "1"),
        ("+0", "0"),
        ("00", "0"),
        ("0.5", "500m"),
        ("1024Ki", "1Mi"),
        ("+1024", "+1024"),
        ("0.5Gi", "512Mi"),
        ("10e3", "10e3"),
        ("1e4", "10e3"),
    ] {
        assert_eq!(q(text).to_string(), shown, "{text}");
    }
    assert_eq!(q("+1").add(&q("01")).map(|sum| sum.to_string()), Ok("2".to_owned()));
}

#[test]
fn equal_quantities_have_one_form() {
    for (one, other) in [("1Ki", "1024"), ("+1", "1000m"), ("1e3", "1k"), ("0.5", "500m"), ("1Gi", "1073741824")] {
        assert_eq!(q(one).in_one_form(), q(other).in_one_form(), "{one}");
    }
    assert_ne!(q("1e21").in_one_form(), q("1").in_one_form());
}

#[test]
fn amounts_are_rounded_up_to_thousandths() {
    let rounded = |text: &str| q(text).rounded_to_milli().map(|rounded| rounded.to_string());
    for text in ["1", "1m", "1.234", "1Gi", "1e3"] {
        assert_eq!(rounded(text), None, "{text}");
    }
    for (text, shown) in [
        ("1.0001", "1001m"),
        ("1.0001234", "1001m"),
        ("-1.0001", "-1001m"),
        ("1n", "1m"),
        ("1000u", "1m"),
        ("0.1Ki", "102400m"),
        ("12345678901234567890.0001", "12345678901234567890001m"),
    ] {
        assert_eq!(rounded(text).as_deref(), Some(shown), "{text}");
    }
}

#[test]
fn semver_is_parsed_compared_and_formatted() {
    for (text, shown, int) in [
        ("1.5", "1500m", None),
        ("100m", "100m", None),
        ("1Gi", "1Gi", Some(1 << 30)),
        ("1.5Gi", "1536Mi", None),
        ("2048", "2048", Some(2048)),
        ("1e3", "1e3", Some(1000)),
        ("-1k", "-1k", Some(-1000)),
        ("1E", "1E", Some(1_000_000_000_000_000_000)),
        ("12345678901234567890", "12345678901234567890", None),
        ("9Ei", "9223372036854775807", None),
        ("0.0000000001", "1n", None),
        (".5", "500m", None),
        ("1.", "1.", Some(1)),
    ] {
        let quantity = q(text);
        assert_eq!(quantity.to_string(), shown, "{text}");
        assert_eq!(quantity.as_int(), int, "{text}");
    }
    assert!(q("1000m") == q("1") && q("1Ki") == q("1024") && q("1e1000000000").compare(&q("1")).is_gt());
    assert_eq!(q("1e1000000000").compare(&q("-1e2000000000")), Ordering::Greater);
    for bad in ["", "a", "1 ", "1x", "1Kii", "--1", "1e", "1.2.3", "1i", "1e99999999999999999999"] {
        assert!(Quantity::parse(bad, V1_37).is_err(), "{bad}");
    }
}

/// Answers of a real server.
#[test]
fn a_number_without_digits_is_zero_unless_it_is_less_than_nano() {
    for text in ["e3", "-e3", "e-9", ".", "-", "k", ".n", "-.Ki", "0e-12", "-0.e-10", "1.e-12", ".5e-12"] {
        assert!(Quantity::parse(text, V1_37).is_ok(), "{text}");
    }
    for text in ["e-10", "-e-12", "+e-12", ".e-12", "-.e-12", "-e2147483648"] {
        assert_eq!(Quantity::parse(text, V1_37).err(), Some(NUMBER.into()), "{text}");
    }
}

#[test]
fn adds_and_subtracts() {
    let sum = |a: &str, b: &str| q(a).add(&q(b)).map(|s| s.to_string());
    assert_eq!(sum("1500m", "1"), Ok("2500m".to_owned()));
    assert_eq!(sum("1Gi", "1Mi"), Ok("1025Mi".to_owned()));
    assert_eq!(sum("9223372036854775807", "1"), Ok("9223372036854775808".to_owned()));
    assert_eq!(q("1").sub(&q("1.5")).map(|s| s.to_string()), Ok("-500m".to_owned()));
    assert_eq!(q("5").sub(&q("5")).map(|s| s.sign()), Ok(0));
    assert!(q("1e1000000000").add(&q("1")).is_err());
    assert_eq!(q("1500m").as_float(), 1.5);
}

fn new(text: &str) -> Quantity {
    Quantity::parse(text, V1_38).expect(text)
}

/// Results of Go (`k8s.io/apimachinery` v0.37.2 and v0.38.0-beta.0).
#[test]
fn integers_of_19_digits_are_int64_since_1_38() {
    for (text, int) in [
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
        ("1000000000000000001", 1_000_000_000_000_000_001),
    ] {
        assert_eq!((q(text).as_int(), new(text).as_int()), (None, Some(int)), "{text}");
    }
    assert_eq!(new("9223372036854775808").as_int(), None);
    assert_eq!(new("+1000000000000000001").to_string(), "1000000000000000001");
    assert_eq!(new("+100000000000000001").to_string(), "+100000000000000001");
}

/// Results of Go.
#[test]
fn integers_saturate_since_1_38() {
    for (text, value, milli) in [
        ("1e300", i64::MAX, i64::MAX),
        ("-12345678901234567890", i64::MIN, i64::MIN),
        ("1000000000000000001", 1_000_000_000_000_000_001, i64::MAX),
        ("-1.00000000000000000000000000001", -2, -1001),
        ("-1500.5Ki", -1_536_512, -1_536_512_000),
    ] {
        assert_eq!((new(text).value(), new(text).milli_value()), (value, milli), "{text}");
    }
}

/// Results of Go.
#[test]
fn decimals_have_29_digits_and_each_exponent_is_shown_since_1_38() {
    for (text, before, since) in [
        ("1000E", "1", "1e21"),
        ("123456789012345678901234567891", "123456789012345678901234567891", "123456789012345678901234567900"),
        ("1e40", "10e39", "10e39"),
        ("1.5Gi", "1536Mi", "1536Mi"),
    ] {
        assert_eq!((q(text).to_string(), new(text).to_string()), (before.to_owned(), since.to_owned()), "{text}");
    }
    assert_eq!(q("1.5Gi").decimal_text(), "1610612736.000000000");
    assert_eq!(new("1.5Gi").decimal_text(), "1610612736.0");
    assert_eq!(new("1e2147483647").to_string(), "10e2147483646");
    assert_eq!(Quantity::parse("1e-2147483648", V1_38).err(), Some("unable to parse quantity's suffix".into()));
}

/// Results of Go.
#[test]
fn sums_have_29_digits_since_1_38() {
    let sum = |a: &str, b: &str| new(a).add(&new(b)).map(|sum| sum.to_string());
    let difference = |a: &str, b: &str| new(a).sub(&new(b)).map(|sum| sum.to_string());
    assert_eq!(sum("1e300", "1"), Ok("1000000000000000000000000000010e270".to_owned()));
    assert_eq!(difference("1e300", "1"), Ok("999999999999999999999999999990e270".to_owned()));
    assert_eq!(sum("1e2147483647", "1"), Ok("10000000000000000000000000000100e2147483616".to_owned()));
    assert_eq!(sum("1Ki", "1180591620717411302400"), Ok("1180591620717411303424".to_owned()));
    assert_eq!(q("1Ki").add(&q("1180591620717411302400")).map(|sum| sum.to_string()), Ok("1".to_owned()));
    assert_eq!(difference("5", "-9223372036854775808"), Ok("9223372036854775813".to_owned()));
}

#[test]
fn products_are_exact() {
    let exceeds = |a: &str, b: &str, c: &str| new(a).exceeds_product(&new(b), &new(c));
    assert!(!exceeds("330m", "300m", "1.1") && exceeds("330000001n", "300m", "1.1"));
    assert!(!exceeds("-1", "1", "0") && exceeds("0", "-1", "1"));
    assert!(!exceeds("99980001", "9999", "9999") && exceeds("99980002", "9999", "9999"));
}

#[test]
fn an_int64_holds_a_value_that_is_not_beyond_its_limits() {
    for (text, fits) in
        [("9223372036854775807", true), ("9223372036854775807.1", false), ("-9223372036854775808", true), ("1E", true)]
    {
        assert_eq!(new(text).fits_int(), fits, "{text}");
    }
}

#[test]
fn zero_is_no_number_of_powers_of_1024() {
    assert_eq!(q("000000Mi").add(&q("0e30")).map(|sum| sum.to_string()), Ok("0".to_owned()));
}
