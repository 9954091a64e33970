//! Checks that a CA bundle contains a certificate (`client-go/transport`, `encoding/pem`): the first PEM block of a
//! certificate must be well-formed. Only the outer DER structure of the certificate is checked.

use crdx_value::GoError;
use crdx_value::base64::Encoding;

/// Checks a CA bundle.
///
/// # Errors
/// Returns the server's error message.
pub fn check(bundle: &[u8]) -> Result<(), GoError> {
    let error = |text: &str| Err(format!("unable to load root certificates: {text}").into());
    let text = String::from_utf8_lossy(bundle);
    let mut rest = text.as_ref();
    let mut malformed = None;
    loop {
        if rest.is_empty() {
            break;
        }
        let Some((block, after)) = block(rest) else {
            // An error in an earlier block takes precedence.
            return error(malformed.unwrap_or("unable to parse bytes as PEM block"));
        };
        rest = after;
        if block.kind != "CERTIFICATE" || block.headers {
            continue;
        }
        if is_certificate(&block.bytes) {
            return Ok(());
        }
        malformed = malformed.or(Some("failed to parse certificate: x509: malformed certificate"));
    }
    error(malformed.unwrap_or("no valid certificate authority data seen"))
}

struct Block<'a> {
    kind: &'a str,
    headers: bool,
    bytes: Vec<u8>,
}

/// Parses the next PEM block and returns the rest of the text; malformed blocks are skipped.
fn block(text: &str) -> Option<(Block<'_>, &str)> {
    let mut rest = text;
    loop {
        let start = if rest.starts_with("-----BEGIN ") { 0 } else { rest.find("\n-----BEGIN ")? + 1 };
        rest = rest.split_at_checked(start + "-----BEGIN ".len())?.1;
        let (line, body) = rest.split_once('\n').unwrap_or((rest, ""));
        let Some(kind) = line.trim_end().strip_suffix("-----") else { continue };
        let end = format!("\n-----END {kind}-----");
        let Some((content, after)) = format_end(body, &end, kind) else { continue };
        let headers = content.lines().next().is_some_and(|l| l.contains(':'));
        let content = if headers { content.split_once("\n\n").map_or("", |(_, c)| c) } else { content };
        let compact: String = content.split_ascii_whitespace().collect();
        let Ok(bytes) = Encoding::Standard.decode(&compact) else { continue };
        return Some((Block { kind, headers, bytes }, after));
    }
}

/// Splits at the END line, which may follow immediately.
fn format_end<'a>(body: &'a str, end: &str, kind: &str) -> Option<(&'a str, &'a str)> {
    let at_once = format!("-----END {kind}-----");
    let (content, after) = match body.strip_prefix(&at_once) {
        Some(after) => ("", after),
        None => body.split_once(end)?,
    };
    let (line, after) = after.split_once('\n').unwrap_or((after, ""));
    line.trim_ascii().is_empty().then_some((content, after))
}

/// Returns true for a DER sequence of a sequence, a sequence and a bit string, without trailing bytes.
fn is_certificate(der: &[u8]) -> bool {
    let Some((0x30, content, [])) = element(der) else { return false };
    let Some((0x30, _, rest)) = element(content) else { return false };
    let Some((0x30, _, rest)) = element(rest) else { return false };
    matches!(element(rest), Some((0x03, _, [])))
}

/// Parses the first DER element: tag, content and remaining bytes.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let mut length = usize::from(*first);
    if length >= 0x80 {
        length = 0;
        for _ in 0..(*first & 0x7f).min(8) {
            let (byte, after) = rest.split_first()?;
            length = length.checked_mul(256)?.checked_add(usize::from(*byte))?;
            rest = after;
        }
    }
    let (content, after) = rest.split_at_checked(length)?;
    Some((*tag, content, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certificates_count() {
        let der = [0x30, 0x07, 0x30, 0x00, 0x30, 0x00, 0x03, 0x01, 0x00];
        let pem = format!(
            "text\n-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
            Encoding::Standard.encode(&der)
        );
        assert_eq!(check(pem.as_bytes()), Ok(()));
        let message = |text: &str| check(text.as_bytes()).err().unwrap();
        assert_eq!(message("\n"), "unable to load root certificates: unable to parse bytes as PEM block".into());
        assert!(
            message(&pem.replace("CERTIFICATE", "KEY")).as_str().ends_with("no valid certificate authority data seen")
        );
        assert!(message(&pem.replace("MAcw", "MAcx")).as_str().contains("failed to parse certificate"));
    }
}
