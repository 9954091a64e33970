use super::*;

const LIMIT: Duration = Duration::from_secs(9);

fn resolve(cluster: &ClusterFlags) -> Result<Configuration, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(configuration(cluster, LIMIT))
}

#[test]
fn a_server_without_a_scheme_is_http_as_for_kubectl() {
    assert_eq!(url("localhost:8080").unwrap().to_string(), "http://localhost:8080/");
    assert_eq!(url("HTTPS://a").unwrap().scheme(), Some(&Scheme::HTTPS));
    for wrong in
        ["https://", "ftp://canary", "https://me:canary@a:6443", "https://canary canary", "//canary@", "canary@"]
    {
        let error = url(wrong).unwrap_err();
        assert!(!error.text().contains("canary"), "{wrong}: {error}");
    }
}

#[test]
fn flags_go_over_the_kubeconfig_as_kubectl_puts_them() {
    let mut cluster = Cluster {
        server: Some("https://a".to_owned().into()),
        authority: Pem { file: None, data: Some(vec![1]) },
        tls_server_name: Some("inside".into()),
        ..Cluster::default()
    };
    let target = ClusterFlags {
        server: Some("https://b".into()),
        insecure_skip_tls_verify: true,
        token: Some("t".to_owned().into()),
        as_groups: vec!["g".into()],
        ..ClusterFlags::default()
    };
    over_cluster(&mut cluster, &target).unwrap();
    assert_eq!(cluster.server, Some("https://b".to_owned().into()));
    // `tls-server-name` in the kubeconfig applies only to the server given there.
    assert_eq!((cluster.tls_server_name, cluster.authority), (None, Pem::default()));
    let mut user = User { username: Some("u".into()), token_file: Some("f".into()), ..User::default() };
    over_user(&mut user, &target);
    assert!(user.token.is_some() && user.token_file.is_none() && user.username.is_none());
    assert_eq!(user.impersonate.groups, ["g"]);
}

#[test]
fn the_token_of_the_service_account_is_for_the_pods_own_cluster_only() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("token"), "canary\n").unwrap();
    let account =
        ServiceAccount { dir: dir.path().to_owned(), address: Some(("fd00::1".to_owned(), "6443".to_owned())) };
    let select = |kubeconfig: &str, target: &ClusterFlags| {
        selected(&Kubeconfig::decode(kubeconfig.as_bytes(), Path::new("")).unwrap(), target, &account).unwrap()
    };
    let (cluster, user) = select("", &ClusterFlags::default());
    assert_eq!(cluster.server, Some("https://[fd00::1]:6443".to_owned().into()));
    assert_eq!((user.token_file, cluster.authority.file), (Some(account.file("token")), Some(account.file("ca.crt"))));
    for server in ["https://elsewhere", "http://elsewhere", "elsewhere", "http://localhost:8080"] {
        let (_, user) = select("", &ClusterFlags { server: Some(server.to_owned()), ..ClusterFlags::default() });
        assert_eq!(user, User::default(), "{server}");
    }
    let own = "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'https://x'}}]";
    assert_eq!(select(own, &ClusterFlags::default()).1, User::default());
    let (_, user) = select("", &ClusterFlags { token: Some("t".to_owned().into()), ..ClusterFlags::default() });
    assert_eq!((user.token_file, user.token), (None, Some("t".to_owned().into())));
    std::fs::remove_file(dir.path().join("token")).unwrap();
    assert_eq!(select("", &ClusterFlags::default()).0, Cluster::default());
}

#[test]
fn nothing_of_the_users_is_read_without_tls() {
    let dir = tempfile::tempdir().unwrap();
    let config = |server: &str| {
        let file = dir.path().join("config");
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nclusters: [{{name: c, cluster: {{server: '{server}', certificate-authority: /nonexistent/ca}}}}]\nusers: [{{name: u, user: {{tokenFile: /nonexistent/token, client-certificate: /nonexistent/crt, client-key: /nonexistent/key, as: jane, exec: {{command: /nonexistent/login}}}}}}]"
        );
        std::fs::write(&file, text).unwrap();
        ClusterFlags { kubeconfig: Some(file), ..ClusterFlags::default() }
    };
    for server in ["http://a", "a", "a:8080"] {
        let found = resolve(&config(server)).unwrap();
        assert!(found.are_withheld && found.credentials.identity.is_none(), "{server}");
        // Impersonation is not a credential: kubectl sends it over http, too.
        assert_eq!(found.config.auth_info.impersonate.as_deref(), Some("jane"));
        assert!(found.config.auth_info.client_certificate.is_none() && found.config.root_cert.is_none());
    }
    assert!(resolve(&config("https://a")).is_err());
}

#[test]
fn no_error_of_a_configuration_contains_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let canary = Encoding::Standard.encode(b"-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\n");
    let certificate = Encoding::Standard.encode(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for (cluster, user) in [
        ("proxy-url: 'http://me:canary@proxy:x'", ""),
        ("proxy-url: 'ftp://me:canary@proxy'", ""),
        ("proxy-url: 'me:canary@proxy'", ""),
        ("proxy-url: 'http://me:can ary@proxy'", ""),
        ("certificate-authority-data: Y2FuYXJ5", ""),
        ("certificate-authority-data: '!canary'", ""),
        ("", "client-certificate-data: Y2FuYXJ5"),
        ("", "client-certificate-data: Y2FuYXJ5, client-key-data: Y2FuYXJ5"),
        ("", &format!("client-certificate-data: {certificate}, client-key-data: {canary}")),
        ("", "client-certificate-data: Y2FuYXJ5, client-key-data: canary?"),
        ("", "token: \"canary\\n\""),
        ("", "token: [canary]"),
        ("", "username: \"canary\\n\", token: canary"),
        ("", "auth-provider: {name: canary, config: {cmd-path: canary, id-token: canary}}"),
        ("", "auth-provider: {name: oidc, config: {id-token: \"canary\\n\"}}"),
        ("", "exec: {apiVersion: canary, command: login, args: [canary]}"),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: canary, command: login, args: [canary]}",
        ),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /nonexistent/login, args: [canary], env: [{name: A, value: canary}]}",
        ),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/false, args: [canary], env: [{name: A, value: canary}]}",
        ),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/echo, args: [canary]}",
        ),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/echo, args: ['{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"canary\\n\"}}']}",
        ),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/echo, args: ['{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"clientCertificateData\":\"canary\",\"clientKeyData\":\"canary\"}}']}",
        ),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: login, env: [{name: 'A=B', value: canary}]}",
        ),
        ("", "as-uid: canary"),
    ] {
        let file = dir.path().join("config");
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nclusters: [{{name: c, cluster: {{server: 'https://a', {cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]"
        );
        std::fs::write(&file, text).unwrap();
        let found = resolve(&ClusterFlags { kubeconfig: Some(file), ..ClusterFlags::default() });
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let error = match found {
            Err(error) => error,
            Ok(found) => kube::Client::try_from(found.config).map(drop).map_err(|e| unusable(&e)).unwrap_err(),
        };
        let shown = format!("{} {error:?}", error.text());
        for part in ["canary", "ary@", "Y2Fu", canary.split_at(20).0] {
            assert!(!shown.contains(part), "{cluster} {user}: {shown}");
        }
    }
}
