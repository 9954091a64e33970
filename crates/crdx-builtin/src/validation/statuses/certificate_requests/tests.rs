use crate::validation::statuses::tests::errors_at;
use crdx_value::json;
use crdx_value::time;

/// A request, and a certificate for its key that is valid for a day.
const REQUEST: &str = "MIHFMG4CAQAwDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFUHEUBm2yK2eCpafYSqKmgpWdKPCIgpsMMbSZgEJYjH/CS2PF3D8aIIVl1Yctk9ccYoBFnNLIUKlArCVZ+uSLCgADAKBggqhkjOPQQDAgNHADBEAiBiC0juDkMfwQtf88+mBulnqAaL2YsMNQU5KqAg7FhRyQIgCIExTxW5Yw82M9+dRzwaJECIA7Fop0C1+Uw7VaqC5lY=";
const LEAF: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBlTCCATygAwIBAgIUecPHZwRVEO+NLdmFksHi60y4EZkwCgYIKoZIzj0EAwIw\n\
    DDEKMAgGA1UEAwwBYTAeFw0yNjExMjcwODQ5MTJaFw0yNjExMjgwODQ5MTJaMAwx\n\
    CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARVBxFAZtsitngq\n\
    Wn2EqipoKVnSjwiIKbDDG0mYBCWIx/wktjxdw/GiCFZdWHLZPXHGKARZzSyFCpQK\n\
    wlWfrkiwo3wwejAdBgNVHQ4EFgQUqYareEieMYtF/qFvpGWenwJ/kV0wHwYDVR0j\n\
    BBgwFoAUqYareEieMYtF/qFvpGWenwJ/kV0wDwYDVR0TAQH/BAUwAwEB/zAnBgNV\n\
    HREEIDAegg1hLmV4YW1wbGUuY29tgQ1hQGV4YW1wbGUuY29tMAoGCCqGSM49BAMC\n\
    A0cAMEQCIHdDY8aGJQT+IfSgTUiSQqewkRj4/LoA7SwB3Ivu8zunAiBNNiQfzX3d\n\
    STUQgLMjUuJKa3nIOcS3KoTYiMov7Wnzrw==\n\
    -----END CERTIFICATE-----\n";
/// A certificate for another key.
const OTHER: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBbjCCAROgAwIBAgIUfUGaa39BRknIeJ/SXhp64Rvs8mgwCgYIKoZIzj0EAwIw\n\
    DDEKMAgGA1UEAwwBYTAeFw0yNjExMjcwODQ5MTJaFw0yNjExMjgwODQ5MTJaMAwx\n\
    CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ6M5/eCmleyDlb\n\
    CSmw40nRc0FmCOX8mfrAPEAjZWLz33uXVqHJCQMyzcWarMx34csFTpOVPGfte8+b\n\
    hL5taU6Zo1MwUTAdBgNVHQ4EFgQU8ZbGdbjuxa7lPOV648SEGl1LaZIwHwYDVR0j\n\
    BBgwFoAU8ZbGdbjuxa7lPOV648SEGl1LaZIwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n\
    hkjOPQQDAgNJADBGAiEA9wwuKgAkZ6aCa5YGGMYEEK+iQ+dDmDjx1L6s4+xPNTwC\n\
    IQDOorxDH1MB6iW4Y0EJZ8Te7MM+Oe2iL3wggdbHfABxmw==\n\
    -----END CERTIFICATE-----\n";
/// A certificate with names that are malformed.
const MALFORMED: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBjzCCATSgAwIBAgIUBwGJjVp8BY4ucy7S/7hoL40c76owCgYIKoZIzj0EAwIw\n\
    DDEKMAgGA1UEAwwBYTAeFw0yNjExMjcwODQ5MTJaFw0yNjExMjgwODQ5MTJaMAwx\n\
    CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARVBxFAZtsitngq\n\
    Wn2EqipoKVnSjwiIKbDDG0mYBCWIx/wktjxdw/GiCFZdWHLZPXHGKARZzSyFCpQK\n\
    wlWfrkiwo3QwcjAdBgNVHQ4EFgQUqYareEieMYtF/qFvpGWenwJ/kV0wHwYDVR0j\n\
    BBgwFoAUqYareEieMYtF/qFvpGWenwJ/kV0wDwYDVR0TAQH/BAUwAwEB/zAfBgNV\n\
    HREEGDAWgg1hLmV4YW1wbGUuY29tggIuYoEBYTAKBggqhkjOPQQDAgNJADBGAiEA\n\
    uU1uUx0G1WEYOHkVLi3BD7wU/y5N5a2zByhEMheC6XECIQCJ1xvXKspR3Zs6cue0\n\
    73EZ54EriMKznx60peYF52oEow==\n\
    -----END CERTIFICATE-----\n";
const START: &str = "2026-11-27T08:49:12Z";
const END: &str = "2026-11-28T08:49:12Z";
const REFRESH: &str = "2026-11-27T20:49:12Z";

fn condition(type_: &str, status: &str) -> String {
    format!(r#"{{"type":"{type_}","status":"{status}","reason":"A","lastTransitionTime":"2026-01-02T03:04:05Z"}}"#)
}

fn object(status: &str) -> String {
    let spec = format!(r#""spec":{{"maxExpirationSeconds":86400,"stubPKCS10Request":"{REQUEST}"}}"#);
    format!(r#"{{{spec},"status":{{{status}}}}}"#)
}

fn written_at(release: &str, old: &str, new: &str) -> Vec<String> {
    let now = time::parse(START).unwrap();
    errors_at(("certificates.k8s.io", "PodCertificateRequest"), &object(old), &object(new), release, now)
}

fn written(old: &str, new: &str) -> Vec<String> {
    written_at("1.37", old, new)
}

fn conditions(conditions: &[(&str, &str)]) -> String {
    let all: Vec<String> = conditions.iter().map(|(type_, status)| condition(type_, status)).collect();
    format!(r#""conditions":[{}]"#, all.join(","))
}

fn issued(chain: &str, start: &str, refresh: &str, end: &str) -> Vec<String> {
    let chain = json::to_string(&chain.into());
    let times = format!(r#""notBefore":"{start}","beginRefreshAt":"{refresh}","notAfter":"{end}""#);
    written("", &format!(r#"{},"certificateChain":{chain},{times}"#, conditions(&[("Issued", "True")])))
}

#[test]
fn a_request_has_one_result() {
    assert_eq!(written("", &conditions(&[("Denied", "True")])), [""; 0]);
    assert_eq!(
        written("", &conditions(&[("Denied", "True"), ("Failed", "False"), ("Other", "True")])),
        [
            r#"status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed""#,
            r#"status.conditions.[1].status: Unsupported value: "False": supported values: "True""#,
            r#"status.conditions.[2].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed""#,
        ]
    );
    assert_eq!(
        written_at("1.38", "", &conditions(&[("Other", "True")])),
        [r#"status.conditions[0].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed""#]
    );
}

#[test]
fn results_stay() {
    let (denied, failed) = (conditions(&[("Denied", "True")]), conditions(&[("Failed", "True")]));
    assert_eq!(written(&denied, &denied), [""; 0]);
    assert_eq!(
        written(&denied, &failed),
        ["status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"]
    );
    assert_eq!(
        written("", &format!(r#"{failed},"notBefore":"{START}""#)),
        [
            "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest"
        ]
    );
    assert_eq!(
        written("", &format!(r#""notBefore":"{START}""#)),
        [r#"status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed""#]
    );
}

#[test]
fn certificates_are_issued_to_the_key_of_the_request() {
    assert_eq!(issued(LEAF, START, REFRESH, END), [""; 0]);
    assert_eq!(issued(&format!("{LEAF}{OTHER}"), START, REFRESH, END), [""; 0]);
    let detail = |chain: &str| {
        let found = issued(chain, START, REFRESH, END);
        found.iter().map(|text| text.rsplit(": ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let empty =
        "status.certificateChain: Invalid value: \"\": issued certificate chain must contain at least one certificate";
    assert_eq!(written("", &conditions(&[("Issued", "True")])), [empty]);
    assert_eq!(detail("x"), ["issued certificate chain must contain at least one certificate"]);
    assert_eq!(detail(OTHER), ["leaf certificate was not issued to the requested public key"]);
    let key = "-----BEGIN KEY-----\nYQ==\n-----END KEY-----\n";
    assert_eq!(detail(key), ["issued certificate chain must consist entirely of CERTIFICATE PEM blocks"]);
    assert_eq!(
        detail(&format!("{LEAF}{key}")),
        ["issued certificate chain must consist entirely of CERTFICATE PEM blocks"]
    );
    assert_eq!(
        detail(MALFORMED),
        [
            "leaf certificate's DNSName should not start or end with '.'",
            "leaf certificate should not contain invalid EmailAddress",
        ]
    );
}

#[test]
fn times_are_those_of_the_certificate() {
    assert_eq!(
        issued(LEAF, END, REFRESH, END),
        [format!(
            r#"status.notBefore: Invalid value: "{END}": must be set to the NotBefore time encoded in the leaf certificate"#
        )]
    );
    assert_eq!(
        issued(LEAF, START, START, END),
        [format!(
            r#"status.beginRefreshAt: Invalid value: "{START}": must be at least 10 minutes after status.notBefore"#
        )]
    );
    let chain = json::to_string(&LEAF.into());
    let untimed = format!(r#"{},"certificateChain":{chain}"#, conditions(&[("Issued", "True")]));
    assert_eq!(written("", &untimed).len(), 3);
}
