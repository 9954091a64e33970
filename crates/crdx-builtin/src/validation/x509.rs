//! The structure of certificates and of requests for them (RFC 5280 and RFC 2986), to the extent that API servers reject
//! those that Go cannot parse. Signatures are not verified.

use crdx_value::time::{self, Timestamp};

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
const BOOLEAN: u8 = 0x01;
const SET: u8 = 0x31;
/// The attributes of a request, and the extensions of a certificate.
pub(super) const CONTEXT_0: u8 = 0xa0;
/// The public key of a private key on an elliptic curve.
pub(super) const CONTEXT_1: u8 = 0xa1;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const UTF8_STRING: u8 = 0x0c;
const NUMERIC_STRING: u8 = 0x12;
const PRINTABLE_STRING: u8 = 0x13;
const T61_STRING: u8 = 0x14;
const IA5_STRING: u8 = 0x16;
const BMP_STRING: u8 = 0x1e;
/// The kinds of names in `subjectAltName`.
const EMAIL_ADDRESS: u8 = 0x81;
const DNS_NAME: u8 = 0x82;
const CONTEXT_3: u8 = 0xa3;
/// `basicConstraints`, 2.5.29.19
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
/// `commonName`, 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// `organizationName`, 2.5.4.10
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// `subjectAltName`, 2.5.29.17
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// The algorithms of public keys.
pub(super) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
pub(super) const ELLIPTIC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
pub(super) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// ML-DSA, but for the last byte, which names the parameters.
const ML_DSA: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03];
/// The last bytes of ML-DSA-44, ML-DSA-65 and ML-DSA-87.
/// The last bytes of the identifiers of ML-DSA-44, 65 and 87, and the lengths of their keys.
const ML_DSA_PARAMETERS: [(u8, usize); 3] = [(0x11, 1312), (0x12, 1952), (0x13, 2592)];
pub(super) const X25519: &[u8] = &[0x2b, 0x65, 0x6e];
/// Elliptic curves.
const P224: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x21];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];

/// Reads elements in DER.
#[derive(Clone, Copy)]
pub(super) struct DerReader<'d>(&'d [u8]);

impl<'d> DerReader<'d> {
    /// Reads from the beginning of a text.
    pub fn new(der: &'d [u8]) -> Self {
        Self(der)
    }

    /// All bytes that are not read yet.
    pub fn bytes(self) -> &'d [u8] {
        self.0
    }

    /// The tag of the next element.
    pub fn tag(self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The contents of the next element, if it has this tag.
    pub fn next(&mut self, tag: u8) -> Option<DerReader<'d>> {
        let (found, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(*first), rest),
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x0f))?;
                let length = bytes.iter().fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
                (length, rest)
            }
            _ => return None,
        };
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (*found == tag).then_some(DerReader(contents))
    }

    /// Skips an element with this tag, if it is the next one.
    pub fn skip_optional(&mut self, tag: u8) -> Option<()> {
        if self.tag() == Some(tag) { self.next(tag).map(drop) } else { Some(()) }
    }
}

/// Reads an algorithm: an object identifier and parameters.
fn algorithm(reader: &mut DerReader<'_>) -> Option<()> {
    reader.next(SEQUENCE)?.next(OBJECT_IDENTIFIER).map(drop)
}

/// An attribute of a name
#[derive(Clone, Copy)]
struct Attribute<'d> {
    id: &'d [u8],
    /// The type of the text.
    tag: u8,
    contents: &'d [u8],
}

impl Attribute<'_> {
    /// The text (`parseASN1String`); `None` if it is invalid, or of a type that Go does not know.
    fn text(&self) -> Option<String> {
        let ascii = |is_allowed: fn(u8) -> bool| {
            let is_valid = self.contents.iter().all(|byte| is_allowed(*byte));
            is_valid.then(|| self.contents.iter().copied().map(char::from).collect())
        };
        match self.tag {
            UTF8_STRING => String::from_utf8(self.contents.to_vec()).ok(),
            PRINTABLE_STRING => ascii(|b| b.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&b)),
            IA5_STRING => ascii(|b| b.is_ascii()),
            NUMERIC_STRING => ascii(|b| b.is_ascii_digit() || b == b' '),
            // Go takes T.61 for Latin-1.
            T61_STRING => ascii(|_| true),
            BMP_STRING => {
                let (units, []) = self.contents.as_chunks::<2>() else { return None };
                let mut units: Vec<u16> = units.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
                units.pop_if(|last| *last == 0);
                let is_reserved = |unit: u16| matches!(unit, 0xfdd0..=0xfdef | 0xfffe..);
                // A surrogate is no character.
                units.into_iter().map(|unit| char::from_u32(unit.into()).filter(|_| !is_reserved(unit))).collect()
            }
            _ => None,
        }
    }
}

/// Reads a name: sets of attributes.
fn name<'d>(reader: &mut DerReader<'d>) -> Option<Vec<Attribute<'d>>> {
    let (mut sets, mut all) = (reader.next(SEQUENCE)?, Vec::new());
    while sets.tag().is_some() {
        let mut attributes = sets.next(SET)?;
        while attributes.tag().is_some() {
            let mut attribute = attributes.next(SEQUENCE)?;
            let id = attribute.next(OBJECT_IDENTIFIER)?.0;
            let tag = attribute.tag()?;
            all.push(Attribute { id, tag, contents: attribute.next(tag)?.0 });
        }
    }
    Some(all)
}

/// The texts of a subject that API servers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSubject {
    /// `CommonName`; the last one, if there are several, as in Go.
    pub common_name: Option<String>,
    /// `Organization`
    pub organizations: Vec<String>,
}

/// The subject of a certificate in DER; `None` if Go cannot parse the certificate.
pub fn subject(der: &[u8]) -> Option<CertificateSubject> {
    let subject = read_certificate(der)?.subject;
    let texts: Vec<_> =
        subject.iter().map(|attribute| Some((attribute.id, attribute.text()?))).collect::<Option<_>>()?;
    let of_type = |id: &'static [u8]| texts.iter().filter(move |(other, _)| *other == id).map(|(_, text)| text.clone());
    Some(CertificateSubject {
        common_name: of_type(COMMON_NAME).next_back(),
        organizations: of_type(ORGANIZATION).collect(),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubjectPublicKeyInfo<'d> {
    pub algorithm: PublicKey,
    /// `SubjectPublicKeyInfo`
    pub encoded: &'d [u8],
}

impl<'d> SubjectPublicKeyInfo<'d> {
    /// The algorithm's identifier, and the bits of the key.
    fn parts(self) -> Option<(&'d [u8], &'d [u8])> {
        let mut key = DerReader(self.encoded);
        let id = key.next(SEQUENCE)?.next(OBJECT_IDENTIFIER)?;
        let (_, bits) = key.next(BIT_STRING)?.0.split_first()?;
        Some((id.0, bits))
    }

    /// The modulus and the exponent of an RSA key, without leading zeros.
    pub fn rsa(self) -> Option<(&'d [u8], &'d [u8])> {
        let (_, bits) = self.parts().filter(|(id, _)| *id == RSA)?;
        let mut numbers = DerReader(bits).next(SEQUENCE)?;
        Some((without_zeros(numbers.next(INTEGER)?.0), without_zeros(numbers.next(INTEGER)?.0)))
    }

    /// The point of a key on an elliptic curve.
    pub fn point(self) -> Option<&'d [u8]> {
        self.parts().filter(|(id, _)| *id == ELLIPTIC).map(|(_, bits)| bits)
    }

    /// Returns true for an Ed25519 key.
    pub fn is_ed25519(self) -> bool {
        self.algorithm == PublicKey::Ed25519
    }
}

/// The bytes of an integer without leading zeros.
pub(super) fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

/// The algorithm of a public key
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    /// RSA, with the size of the modulus in bits, rounded up to bytes.
    Rsa(usize),
    /// One on an elliptic curve that API servers accept.
    Curve,
    /// One on another elliptic curve that Go knows.
    OtherCurve(&'static str),
    Ed25519,
    /// ML-DSA, which API servers know since 1.38, and the reason why they cannot read it.
    MlDsa(Option<&'static str>),
    /// Any other.
    Other,
}

/// Reads a public key (`SubjectPublicKeyInfo`).
fn public_key<'d>(reader: &mut DerReader<'d>) -> Option<SubjectPublicKeyInfo<'d>> {
    let mut key = reader.next(SEQUENCE)?;
    let encoded = key.0;
    algorithm_of(&mut key).map(|algorithm| SubjectPublicKeyInfo { algorithm, encoded })
}

fn algorithm_of(key: &mut DerReader<'_>) -> Option<PublicKey> {
    let mut algorithm = key.next(SEQUENCE)?;
    let id = algorithm.next(OBJECT_IDENTIFIER)?;
    let bits = key.next(BIT_STRING)?;
    match id.0 {
        RSA => {
            let (_, contents) = bits.0.split_first()?;
            let modulus = DerReader(contents).next(SEQUENCE)?.next(INTEGER)?;
            let zeros = modulus.0.iter().take_while(|byte| **byte == 0).count();
            Some(PublicKey::Rsa((modulus.0.len() - zeros) * 8))
        }
        ELLIPTIC => match algorithm.next(OBJECT_IDENTIFIER)?.0 {
            P256 | P384 | P521 => Some(PublicKey::Curve),
            P224 => Some(PublicKey::OtherCurve("P-224")),
            _ => None,
        },
        ED25519 => Some(PublicKey::Ed25519),
        [prefix @ .., last] if prefix == ML_DSA => Some(match ML_DSA_PARAMETERS.iter().find(|(id, _)| id == last) {
            None => PublicKey::Other,
            Some(_) if !algorithm.0.is_empty() => {
                PublicKey::MlDsa(Some("x509: ML-DSA key encoded with illegal parameters"))
            }
            // The first byte is the number of unused bits.
            Some((_, length)) if bits.0.len() != length + 1 => {
                PublicKey::MlDsa(Some("mldsa: invalid public key length"))
            }
            Some(_) => PublicKey::MlDsa(None),
        }),
        _ => Some(PublicKey::Other),
    }
}

pub(crate) struct CertificateRequest<'d> {
    pub key: SubjectPublicKeyInfo<'d>,
    /// The organizations of the subject.
    pub organizations: Vec<&'d [u8]>,
}

/// Reads a request (`x509.ParseCertificateRequest`).
///
/// # Errors
/// Returns a message of Go's decoder.
pub(crate) fn read_request(der: &[u8]) -> Result<CertificateRequest<'_>, &'static str> {
    let mut reader = DerReader(der);
    let Some(mut outer) = reader.next(SEQUENCE) else { return Err("asn1: syntax error: data truncated") };
    if !reader.0.is_empty() {
        return Err("asn1: syntax error: trailing data");
    }
    let mut read = || {
        let mut info = outer.next(SEQUENCE)?;
        info.next(INTEGER)?;
        let subject = name(&mut info)?.into_iter();
        let organizations =
            subject.filter(|attribute| attribute.id == ORGANIZATION).map(|found| found.contents).collect();
        let key = public_key(&mut info)?;
        info.skip_optional(CONTEXT_0)?;
        algorithm(&mut outer)?;
        outer.next(BIT_STRING).map(|_| CertificateRequest { key, organizations })
    };
    read().ok_or("asn1: syntax error: sequence truncated")
}

pub(crate) struct Certificate<'d> {
    subject: Vec<Attribute<'d>>,
    /// True if it is one of a certificate authority.
    pub is_authority: bool,
    /// The key to which it was issued.
    pub key: SubjectPublicKeyInfo<'d>,
    /// The beginning and the end of its validity.
    pub validity: (Timestamp, Timestamp),
    /// The DNS names of the subject.
    pub dns_names: Vec<&'d str>,
    /// The e-mail addresses of the subject.
    pub email_addresses: Vec<&'d str>,
}

/// Reads a time (RFC 5280, 4.1.2.5).
fn time(reader: &mut DerReader<'_>) -> Option<Timestamp> {
    let tag = reader.tag()?;
    let text = std::str::from_utf8(reader.next(tag)?.0).ok()?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let century = if year < "50" { "20" } else { "19" };
            (format!("{century}{year}"), rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.to_owned(), rest)
        }
        _ => return None,
    };
    let digits = rest.strip_suffix('Z').filter(|digits| digits.len() == 10)?;
    let pair = |at: usize| digits.get(at..at + 2);
    let [month, day, hour, minute, second] = [pair(0)?, pair(2)?, pair(4)?, pair(6)?, pair(8)?];
    time::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z")).ok()
}

/// The message of Go's parser about a certificate that cannot be read. Of an error inside the signed part, it says only
/// that the certificate is malformed.
pub(super) fn certificate_error(der: &[u8]) -> &'static str {
    let outer = DerReader(der).next(SEQUENCE);
    let is_signed_part_missing = |mut outer: DerReader<'_>| outer.next(SEQUENCE).is_none();
    if outer.is_some_and(is_signed_part_missing) {
        "x509: malformed tbs certificate"
    } else {
        "x509: malformed certificate"
    }
}

/// Reads a certificate (`x509.ParseCertificate`).
pub(crate) fn read_certificate(der: &[u8]) -> Option<Certificate<'_>> {
    let mut reader = DerReader(der);
    let mut outer = reader.next(SEQUENCE)?;
    if !reader.0.is_empty() {
        return None;
    }
    let mut info = outer.next(SEQUENCE)?;
    algorithm(&mut outer)?;
    outer.next(BIT_STRING)?;
    info.skip_optional(CONTEXT_0)?;
    info.next(INTEGER)?;
    algorithm(&mut info)?;
    name(&mut info)?;
    let mut period = info.next(SEQUENCE)?;
    let validity = (self::time(&mut period)?, self::time(&mut period)?);
    let subject = name(&mut info)?;
    let key = public_key(&mut info)?;
    let (mut dns_names, mut email_addresses) = (Vec::new(), Vec::new());
    let mut is_authority = false;
    while info.tag().is_some_and(|tag| tag != CONTEXT_3) {
        info.next(info.tag()?)?;
    }
    if info.tag().is_some() {
        let mut extensions = info.next(CONTEXT_3)?.next(SEQUENCE)?;
        while extensions.tag().is_some() {
            let mut extension = extensions.next(SEQUENCE)?;
            let id = extension.next(OBJECT_IDENTIFIER)?;
            extension.skip_optional(BOOLEAN)?;
            let mut value = extension.next(OCTET_STRING)?;
            if id.0 == BASIC_CONSTRAINTS {
                let mut constraints = value.next(SEQUENCE)?;
                is_authority = constraints.tag() == Some(BOOLEAN) && constraints.next(BOOLEAN)?.0 == [0xff];
            } else if id.0 == ALTERNATIVE_NAMES {
                let mut all = value.next(SEQUENCE)?;
                while let Some(tag) = all.tag() {
                    let name = all.next(tag)?.0;
                    let text = || std::str::from_utf8(name).ok().filter(|text| text.is_ascii());
                    match tag {
                        EMAIL_ADDRESS => email_addresses.push(text()?),
                        DNS_NAME => dns_names.push(text()?),
                        _ => {}
                    }
                }
            }
        }
    }
    Some(Certificate { subject, is_authority, key, validity, dns_names, email_addresses })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tag: u8, contents: &[u8]) -> Option<String> {
        Attribute { id: COMMON_NAME, tag, contents }.text()
    }

    #[test]
    fn texts_of_names_are_those_of_go() {
        let text_of = |tag, contents: &[u8]| text(tag, contents).unwrap_or_default();
        assert_eq!(text_of(UTF8_STRING, "ä".as_bytes()), "ä");
        assert_eq!(text_of(PRINTABLE_STRING, b"*.example.com & others"), "*.example.com & others");
        assert_eq!(text_of(IA5_STRING, b"a@b"), "a@b");
        assert_eq!(text_of(NUMERIC_STRING, b"1 2"), "1 2");
        assert_eq!(text_of(T61_STRING, &[b'a', 0xe4]), "aä");
        assert_eq!(text_of(BMP_STRING, &[0, b'a', 0x20, 0xac, 0, 0]), "a€");
    }

    #[test]
    fn texts_that_go_refuses_make_a_name_invalid() {
        let invalid: [(u8, &[u8]); 8] = [
            (UTF8_STRING, b"\xff"),
            (PRINTABLE_STRING, b"a@b"),
            (IA5_STRING, &[0x80]),
            (NUMERIC_STRING, b"a"),
            (BMP_STRING, &[0]),
            (BMP_STRING, &[0xd8, 0]),
            (BMP_STRING, &[0xfd, 0xd0]),
            (INTEGER, &[1]),
        ];
        for (tag, contents) in invalid {
            assert_eq!(text(tag, contents), None, "{tag:#x} {contents:?}");
        }
    }
}
