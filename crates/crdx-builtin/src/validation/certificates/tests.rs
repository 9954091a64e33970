use crate::validation::tests::{created, created_with, updated};
use crdx_value::base64::Encoding;
use crdx_value::json;

const API: &str = "certificates.k8s.io/v1";

/// A request with a key on the curve P-256.
const REQUEST: &str = "-----BEGIN CERTIFICATE REQUEST-----\n\
    MIHGMG4CAQAwDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA\n\
    BDRFLCBxmNCSCnT8G1e+FL5pxjuxclI5362czY3zYoBkO4DSMuZR8NaLuZ/42YZq\n\
    NdgL5ri2ItfLC0gy+u+FXz2gADAKBggqhkjOPQQDAgNIADBFAiEAs1umXp2YzgI9\n\
    VygNXbXLXHbHGo46nrWuAAzBAG3EHt0CIFPomSYQzMCXlNHgaGgigKtCYOyNf5VS\n\
    jQVqOS4t0oZS\n\
    -----END CERTIFICATE REQUEST-----\n";
/// A certificate of an authority, and one that is none.
const AUTHORITY: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBbjCCAROgAwIBAgIUfcU7OY0mPY+GHhDLe3vkiXv2A2YwCgYIKoZIzj0EAwIw\n\
    DDEKMAgGA1UEAwwBYTAeFw0yNjExMjUwNjEyMTZaFw0zNjExMjIwNjEyMTZaMAwx\n\
    CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATSzv/fYZgZZD9o\n\
    TGTjzsfpbzP5w1W5OHNAEMxUKo+eVo2og6Of7cB/IKJuMymFHmU6+5ptuhaO/Tzs\n\
    +6L5nU9Lo1MwUTAdBgNVHQ4EFgQUZ9BeGOfX7KXCELohPjmC2vw7UIQwHwYDVR0j\n\
    BBgwFoAUZ9BeGOfX7KXCELohPjmC2vw7UIQwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n\
    hkjOPQQDAgNJADBGAiEA06CpY3phQiPBexs7YBCPLy3qQKAFZOv5n/GRhhkRdr0C\n\
    IQCNU1qyOjCOOcpKjaszttllMU2aPotq4+xbNjX7hGpn1g==\n\
    -----END CERTIFICATE-----\n";
const LEAF: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBazCCARCgAwIBAgIUUI1b+A8340xsHwix9cCqeMFNpM0wCgYIKoZIzj0EAwIw\n\
    DDEKMAgGA1UEAwwBYTAeFw0yNjExMjUwNjEyMTZaFw0zNjExMjIwNjEyMTZaMAwx\n\
    CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATSLoLJeJcDXSXV\n\
    Mox4LKHxUsfRoHG7ypQEG9FLn/zs1RBnBTqDLMjjRnQ80P4s9YFzcbqT88XZILKt\n\
    FD0Di9Hho1AwTjAdBgNVHQ4EFgQUrsaWcASJ7K4AMb/9NAiEWInT8DAwHwYDVR0j\n\
    BBgwFoAUrsaWcASJ7K4AMb/9NAiEWInT8DAwDAYDVR0TAQH/BAIwADAKBggqhkjO\n\
    PQQDAgNJADBGAiEAhEIQbfHuWqz9ii9WbFkI1l/N9pP/An+WNjo/2tdcxdkCIQDv\n\
    wIZJfueA3tmD4akE3fnfeNTGtTAFRpMDtF2r8iSm1Q==\n\
    -----END CERTIFICATE-----\n";
/// A request with a key of 1024 bits, in DER.
const WEAK_REQUEST: &str = "MIIBSzCBtQIBADAMMQowCAYDVQQDDAFhMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDTou+h9AFRw1z0a2e2IzesdDi8psEPceJkyguk3wmIk8qKS1qXgxGe7Oib97TumjVIDBujyhEiMmsgyP/jwxdhfTfwmcZhzw01EKu4rOhuqjrHbiPSdF/ZSoRTaeQBJmEp3hSX2VB4N9xGP4AsdfgBE4l4SPBCmME37Dn0MH/XVwIDAQABoAAwDQYJKoZIhvcNAQELBQADgYEAqgxRkh/P44iPAdZcFF5sk9neDdV+BdgCkl5ZwPs2iQXND0QT1+LHpejOftRS0uFwJmoa4Dn6p0c7a7q75NBjZhW46w0FyljVGOt0G1Wnyi2AK9w6nw0Rv9HUa8nz6Z2fFI4Al8A0OUx/YNM9wObK0YGrW2BGV0shlrZV1CfclrE=";

/// A request with an X25519 key of one byte, in DER.
const X25519_REQUEST: &str = "MCEwFAIBADAAMAswBQYDK2VuAwIAAaAAMAUGAytlbgMCAAE=";

fn request_at(release: &str, text: &str, rest: &str) -> Vec<String> {
    let request = Encoding::Standard.encode(text.as_bytes());
    let object = format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"request":"{request}",{rest}}}}}"#);
    created(API, "CertificateSigningRequest", &object, release)
}

fn request(text: &str, rest: &str) -> Vec<String> {
    request_at("1.37", text, rest)
}

/// A request with an ML-DSA-44 key of this length, in DER.
fn ml_dsa_request(length: u16) -> String {
    let der = |tag: u8, parts: &[Vec<u8>]| {
        let contents = parts.concat();
        let [high, low] = u16::try_from(contents.len()).unwrap().to_be_bytes();
        let length = if contents.len() < 128 { vec![low] } else { vec![0x82, high, low] };
        [vec![tag], length, contents].concat()
    };
    let algorithm = der(0x30, &[vec![0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 0x11]]);
    let key = der(0x30, &[algorithm.clone(), der(0x03, &[vec![0; usize::from(length) + 1]])]);
    let info = der(0x30, &[vec![0x02, 1, 0], der(0x30, &[]), key, der(0xa0, &[])]);
    Encoding::Standard.encode(&der(0x30, &[info, algorithm, der(0x03, &[vec![0, 1]])]))
}

/// `validateCertificateSigningRequest`
#[test]
fn requests_with_ml_dsa_keys_are_known_since_1_38() {
    let object = |der: &str, usages: &str| {
        let pem = format!("-----BEGIN CERTIFICATE REQUEST-----\n{der}\n-----END CERTIFICATE REQUEST-----\n");
        let request = Encoding::Standard.encode(pem.as_bytes());
        let spec = format!(r#"{{"request":"{request}","signerName":"example.com/a","usages":{usages}}}"#);
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{spec}}}"#)
    };
    let with = |release: &str, der: &str, usages| created(API, KIND, &object(der, usages), release);
    let (usages, unverified) = (r#"["digital signature"]"#, ": x509: cannot verify signature: algorithm unimplemented");
    let request = ml_dsa_request(1312);
    assert!(with("1.37", &request, usages)[0].ends_with(unverified));
    assert!(with("1.38", X25519_REQUEST, usages)[0].ends_with(unverified));
    // Answers of kube-apiserver 1.38.
    assert!(with("1.38", &request, usages)[0].ends_with(": ML-DSA keys cannot be used for requests"));
    assert!(with("1.38", &ml_dsa_request(1), usages)[0].ends_with(": mldsa: invalid public key length"));
    let allowed = |usages| created_with(MLDSA, true, (API, KIND), &object(&request, usages), "1.38");
    assert_eq!(allowed(usages), [""; 0]);
    assert_eq!(
        allowed(r#"["key agreement"]"#),
        [
            r#"spec.usages[0]: Invalid value: "key agreement": When using ML-DSA keys, the usages [data encipherment decipher only encipher only key agreement key encipherment] are not allowed"#,
            r#"spec.usages: Invalid value: ["key agreement"]: When using ML-DSA keys, at least one of [cert sign content commitment crl sign digital signature] usages are required"#,
        ]
    );
}

const KIND: &str = "CertificateSigningRequest";
const MLDSA: &str = "CertificateSigningRequestMLDSA";
const REST: &str = r#""signerName":"example.com/a","usages":["client auth"]"#;

#[test]
fn requests_are_parsed() {
    assert_eq!(request(REQUEST, REST), [""; 0]);
    let found = request("x", REST);
    assert_eq!(found, [r#"spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST"#]);
    let found = request(AUTHORITY, REST);
    assert!(found[0].ends_with("PEM block type must be CERTIFICATE REQUEST"), "{found:?}");
    let broken = "-----BEGIN CERTIFICATE REQUEST-----\nMAMCAQE=\n-----END CERTIFICATE REQUEST-----\n";
    assert_eq!(request(broken, REST).len(), 1);
}

#[test]
fn usages_and_signers_are_known() {
    let found =
        request(REQUEST, r#""usages":["client auth","x","client auth"],"expirationSeconds":599,"signerName":"a""#);
    assert!(found[0].starts_with(r#"spec.usages[1]: Unsupported value: "x": supported values: "any", "cert sign""#));
    assert_eq!(found[1], r#"spec.usages[2]: Duplicate value: "client auth""#);
    assert!(found[2].starts_with(r#"spec.signerName: Invalid value: "a": must be a fully qualified domain"#));
    assert_eq!(
        found[3],
        "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"
    );
    let legacy = request(REQUEST, r#""signerName":"kubernetes.io/legacy-unknown""#);
    assert_eq!(
        legacy,
        [
            "spec.usages: Required value",
            r#"spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version"#,
        ]
    );
}

fn bundle(name: &str, signer: &str, text: &str) -> String {
    let text = json::to_string(&text.into());
    format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"signerName":"{signer}","trustBundle":{text}}}}}"#)
}

#[test]
fn bundles_have_certificates_of_authorities() {
    let create = |text: &str| created(API, "ClusterTrustBundle", &bundle("a", "", text), "1.37");
    assert_eq!(create(AUTHORITY), [""; 0]);
    let error = |detail: &str| [format!(r#"spec.trustBundle: Invalid value: "<value omitted>": {detail}"#)];
    assert_eq!(create(""), error("at least one trust anchor must be provided"));
    assert_eq!(create(LEAF), error("entry 0 does not have the CA bit set"));
    assert_eq!(create(REQUEST), error("entry 0 has bad block type: CERTIFICATE REQUEST"));
    assert_eq!(create(&format!("{AUTHORITY}\n{AUTHORITY}")), error("duplicate trust anchor (indices [0 1])"));
    assert_eq!(
        create("-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----"),
        error("entry 0 does not parse as X.509")
    );
    assert_eq!(
        create("-----BEGIN CERTIFICATE-----\na: b\n\nYQ==\n-----END CERTIFICATE-----"),
        error("entry 0 has PEM block headers")
    );
}

#[test]
fn names_of_bundles_begin_with_their_signer() {
    let create =
        |name: &str, signer: &str| created(API, "ClusterTrustBundle", &bundle(name, signer, AUTHORITY), "1.37");
    assert_eq!(create("example.com:a:b", "example.com/a"), [""; 0]);
    assert_eq!(
        create("b", "example.com/a"),
        [
            r#"metadata.name: Invalid value: "b": ClusterTrustBundle for signerName example.com/a must be named with prefix example.com:a:"#
        ]
    );
    assert_eq!(
        create("a:b", ""),
        [
            r#"metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name"#
        ]
    );
    let signed = [bundle("x.y:a", "x.y", AUTHORITY), bundle("x.y:a", "x.y/z", AUTHORITY)];
    let changed = |release| updated(API, "ClusterTrustBundle", &signed[0], &signed[1], release).pop().unwrap();
    assert_eq!(changed("1.37"), r#"spec.signerName: Invalid value: "x.y/z": field is immutable"#);
    assert_eq!(changed("1.38"), "spec.signerName: Invalid value: null: field is immutable");
    let old = bundle("a", "", "not parsed again");
    assert_eq!(updated(API, "ClusterTrustBundle", &old, &old, "1.37"), [""; 0]);
}

fn pod_request_at(release: &str, members: &str) -> Vec<String> {
    let rest = r#""signerName":"example.com/a","podName":"p","podUID":"1","serviceAccountName":"s","serviceAccountUID":"2","nodeName":"n","nodeUID":"3""#;
    let object = format!(r#"{{"metadata":{{"name":"a","namespace":"default"}},"spec":{{{rest},{members}}}}}"#);
    created(API, "PodCertificateRequest", &object, release)
}

fn pod_request(members: &str) -> Vec<String> {
    pod_request_at("1.37", members)
}

/// `validateStubPKCS10Request`
#[test]
fn requests_of_pods_may_have_ml_dsa_keys_since_1_38() {
    let with = |release: &str, der: &str| {
        pod_request_at(release, &format!(r#""maxExpirationSeconds":86400,"stubPKCS10Request":"{der}""#))
    };
    let unknown = "spec.stubPKCS10Request: Invalid value: unknown public key type; supported types are";
    assert_eq!(with("1.37", &ml_dsa_request(1312)), [format!("{unknown} Ed25519, ECDSA, and RSA")]);
    assert_eq!(with("1.38", &ml_dsa_request(1312)), [""; 0]);
    assert_eq!(with("1.38", X25519_REQUEST), [format!("{unknown} Ed25519, ECDSA, RSA, and ML-DSA")]);
}

#[test]
fn a_changed_request_of_a_pod_is_shown_as_the_internal_type() {
    let request = |name: &str| {
        format!(
            r#"{{"metadata":{{"name":"a","namespace":"default"}},"spec":{{"podName":"{name}","maxExpirationSeconds":86400,"stubPKCS10Request":"YQ=="}}}}"#
        )
    };
    assert_eq!(
        updated(API, "PodCertificateRequest", &request("p"), &request("q"), "1.37"),
        [
            r#"spec: Invalid value: {"SignerName":"","PodName":"q","PodUID":"","ServiceAccountName":"","ServiceAccountUID":"","NodeName":"","NodeUID":"","MaxExpirationSeconds":86400,"PKIXPublicKey":null,"ProofOfPossession":null,"StubPKCS10Request":"YQ==","UnverifiedUserAnnotations":null}: field is immutable"#
        ]
    );
}

#[test]
fn requests_of_pods_have_a_strong_key() {
    let lines: String = REQUEST.lines().filter(|line| !line.starts_with('-')).collect();
    assert_eq!(pod_request(&format!(r#""maxExpirationSeconds":3600,"stubPKCS10Request":"{lines}""#)), [""; 0]);
    assert_eq!(
        pod_request(r#""stubPKCS10Request":"YQ==""#),
        ["spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"]
    );
    assert_eq!(
        pod_request(&format!(r#""maxExpirationSeconds":1,"stubPKCS10Request":"{WEAK_REQUEST}""#)),
        [
            "spec.maxExpirationSeconds: Invalid value: 1: must be in the range [3600, 7862400]",
            r#"spec.stubPKCS10Request: Invalid value: "1024-bit modulus": RSA keys must have modulus size 3072 or 4096"#,
        ]
    );
    assert_eq!(
        pod_request(r#""maxExpirationSeconds":3600"#),
        ["spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"]
    );
}
