//! Credentials are sent over TLS only, to the servers to which kubectl sends them, and never printed.

use super::connection::with_tls;
use super::fake::{Fake, Reply};
use super::{Said, TestDir, cluster, object, status};
use std::fs;

/// A kubeconfig with a cluster and a user.
fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "current-context: c\nclusters:\n- name: c\n  cluster: {{{cluster}}}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user: {{{user}}}\n"
    )
}

/// A credential plugin that leaves a trace, printing `text`.
#[cfg(unix)]
fn plugin(place: &TestDir, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = place.write("login", &format!("#!/bin/sh\necho run >>{}/runs\n{text}\n", place.0.display()));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never, args: [canary], env: [{name: A, value: canary}]}".to_owned()
}

#[cfg(unix)]
#[test]
fn credentials_are_not_sent_without_tls() {
    let place = TestDir::new("plain-http");
    let secure = with_tls(|path, _| cluster(path));
    let plain = Fake::serve(|path, _| cluster(path));
    place.write("token", "canary\n");
    place.write("key", "canary");
    let plugin = plugin(
        &place,
        r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"canary"}}'"#,
    );
    let host = plain.url.trim_start_matches("http://");
    for user in [
        "token: canary",
        "tokenFile: token",
        "username: me, password: canary",
        "auth-provider: {name: oidc, config: {id-token: canary}}",
        &plugin,
    ] {
        for (server, flag) in [
            (plain.url.as_str(), String::new()),
            (plain.url.as_str(), " --token canary".to_owned()),
            (secure.url.as_str(), format!(" --server {}", plain.url)),
            (secure.url.as_str(), format!(" --server {host} --token canary")),
            (secure.url.as_str(), format!(" --server {} --client-certificate key --client-key key", plain.url)),
        ] {
            place.write("config", &kubeconfig(&format!("server: '{server}', insecure-skip-tls-verify: true"), user));
            place.run(&format!("validate -f a.yaml --kubeconfig config --no-cache{flag}")).ends(0, &["1 accepted"]);
        }
    }
    let heads: Vec<String> = plain.asked().into_iter().map(|asked| asked.head.to_lowercase()).collect();
    assert!(heads.len() > 20, "{}", heads.len());
    assert!(heads.iter().all(|head| !head.contains("authorization") && !head.contains("canary")), "{heads:?}");
    assert_eq!(secure.paths(), [""; 0]);
    assert!(!place.0.join("runs").exists(), "a credential plugin was run");
    // Over TLS, each is sent, also to the server of `--server`, as by kubectl.
    place.write("config", &kubeconfig("server: 'http://127.0.0.1:1'", &plugin));
    let line = "validate -f a.yaml --kubeconfig config --no-cache --insecure-skip-tls-verify --server";
    place.run(&format!("{line} {}", secure.url)).ends(0, &["1 accepted"]);
    let is_sent = |head: &str| head.to_lowercase().contains("authorization: bearer canary\r\n");
    assert!(secure.asked().iter().all(|asked| is_sent(&asked.head)) && !secure.paths().is_empty());
    assert!(place.0.join("runs").exists());
    // The server's refusal says why it does not know the user.
    let strict = Fake::serve(|_, _| status(401, "Unauthorized"));
    place.run(&format!("{line} {}", strict.url)).ends(2, &["the credentials were not sent, because", "https"]);
}

#[cfg(unix)]
#[test]
fn no_output_contains_a_secret() {
    let place = TestDir::new("canary");
    let secure = with_tls(|path, _| cluster(path));
    let broken = with_tls(|_, _| Reply::Json(200, "<html>".to_owned()));
    let with_plugin = plugin(&place, "echo 'token: [canary'");
    let failing = plugin(&place, "exit 3").replace("./login", "./failing");
    fs::rename(place.0.join("login"), place.0.join("failing")).unwrap();
    plugin(&place, "echo 'token: [canary'");
    let server = |url: &str, more: &str| format!("server: '{url}', insecure-skip-tls-verify: true{more}");
    let (fine, other) = (server(&secure.url, ""), server(&broken.url, ""));
    let mut configs: Vec<String> = [
        (fine.as_str(), "token: \"canary\\nbird\""),
        (&fine, "token: [canary]"),
        (&fine, "token: {canary: canary}"),
        (&fine, "token: \"can\u{e9}canary\""),
        (&fine, "username: [canary], password: canary"),
        (&fine, "password: {a: canary}"),
        (&fine, "client-key-data: 'canary?'"),
        (&fine, "client-certificate-data: Y2FuYXJ5, client-key-data: Y2FuYXJ5"),
        (&fine, "auth-provider: {name: gcp, config: {cmd-path: canary, access-token: canary}}"),
        (&fine, "auth-provider: {name: oidc, config: canary}"),
        (&fine, "exec: canary"),
        (&fine, &with_plugin),
        (&fine, &failing),
        (&other, "token: canary"),
        (&server("https://me:canary@127.0.0.1:1", ""), "token: canary"),
        (&server("https://127.0.0.1:1", ""), "token: canary"),
        (&server("https://127.0.0.1:1", ", proxy-url: 'http://me:canary@127.0.0.1:1'"), "token: canary"),
        (&server("https://127.0.0.1:1", ", proxy-url: 'socks5://me:canary@127.0.0.1:1'"), "token: canary"),
        (&server("https://127.0.0.1:1", ", proxy-url: 'ftp://me:canary@127.0.0.1:1'"), "token: canary"),
        (&server("https://127.0.0.1:1", ", proxy-url: 'http://me:canary@127.0.0.1:x'"), "token: canary"),
    ]
    .iter()
    .map(|(cluster, user)| kubeconfig(cluster, user))
    .collect();
    configs.push(kubeconfig(&fine, "token: 'canary"));
    configs.push(format!("{}\n  bad: [canary\n", kubeconfig(&fine, "token: canary")));
    configs.push("users: &canary *canary\n".to_owned());
    configs.push("canary".to_owned());
    for config in &configs {
        place.write("config", config);
        for command in ["validate -f a.yaml", "get widgets", "rehearse crd.yaml", "validate -f a.yaml --v=9"] {
            let said = place.run(&format!("{command} --kubeconfig config --no-cache"));
            check(config, &said);
        }
    }
    let said = place.run_with(
        "validate -f a.yaml --no-cache --server https://example.com",
        &[("HTTPS_PROXY", "http://me:canary@127.0.0.1:x")],
        "",
    );
    check("HTTPS_PROXY", &said);
    place.write("config", &kubeconfig(&fine, ""));
    for token in ["canary\u{e9}", "canary\u{1}"] {
        let said = place.run(&format!("get widgets --kubeconfig config --no-cache --token {token}"));
        check("--token", &said);
    }
    for line in ["--token canary --nonsense", "--token=canary extra words here", "--token"] {
        let said = place.run(&format!("validate -f a.yaml --kubeconfig config {line}"));
        assert!(!said.all().contains("canary"), "{line}: {}", said.all());
    }
}

#[track_caller]
fn check(case: &str, said: &Said) {
    assert_eq!(said.code, Some(2), "{case}: {said:?}");
    let all = said.all();
    assert!(!all.contains("canary") && !all.contains("Y2Fu") && !all.contains("panicked"), "{case}: {all}");
    assert!(all.contains("help: "), "{case}: {all}");
}

#[cfg(unix)]
#[test]
fn a_plugin_prints_to_the_users_terminal_and_within_limits() {
    let place = TestDir::new("plugin-limits");
    let secure = with_tls(|path, _| cluster(path));
    let user = plugin(&place, "yes canary");
    place.write("config", &kubeconfig(&format!("server: '{}', insecure-skip-tls-verify: true", secure.url), &user));
    let line = "validate -f - --kubeconfig config --no-cache --request-timeout 5s";
    let said = place.run_with(line, &[], &object("a", 4));
    assert!(said.code == Some(2) && !said.all().contains("canary"), "{said:?}");
    // A process that the plugin leaves behind does not hold up the run.
    plugin(
        &place,
        r#"sleep 20 & echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'"#,
    );
    let line = line.replace("5s", "1s");
    place.run_with(&line, &[], &object("a", 4)).ends(2, &["did not end within 1 s"]);
}

#[cfg(unix)]
#[test]
fn a_plugin_that_kuberc_does_not_permit_is_not_run() {
    let place = TestDir::new("kuberc");
    let secure = with_tls(|path, _| cluster(path));
    let plugin = plugin(
        &place,
        r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"canary"}}'"#,
    );
    place.write("config", &kubeconfig(&format!("server: '{}', insecure-skip-tls-verify: true", secure.url), &plugin));
    let line = "validate -f a.yaml --kubeconfig config --no-cache";
    let own = place.0.join("login").display().to_string();
    let policies = [
        ("DenyAll", "credentialPluginPolicy is \"DenyAll\""),
        (
            "Allowlist\ncredentialPluginAllowlist: [{command: /bin/true}]",
            "is not permitted by the credentialPluginAllowlist",
        ),
        ("Denyall", "unknown plugin policy"),
    ];
    for (policy, reason) in policies {
        let text =
            format!("apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\ncredentialPluginPolicy: {policy}\n");
        place.write("kuberc", &text);
        place.run(&format!("{line} --kuberc kuberc")).ends(2, &[reason]);
        place.run_with(line, &[("KUBERC", "kuberc")], "").ends(2, &[reason]);
    }
    assert!(!place.0.join("runs").exists(), "a credential plugin was run");
    assert_eq!(secure.paths(), [""; 0]);
    let list = format!("Allowlist\ncredentialPluginAllowlist: [{{command: {own}}}]");
    let defaults = "defaults: [{command: apply, options: [{name: server-side, default: \"true\"}]}]";
    place.write(
        "kuberc",
        &format!(
            "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\ncredentialPluginPolicy: {list}\n{defaults}\n"
        ),
    );
    place
        .run(&format!("{line} --kuberc kuberc --force-conflicts"))
        .ends(0, &["1 accepted", "note: --server-side=true from kuberc"]);
    assert!(place.0.join("runs").exists());
    place.run_with(&format!("{line} --kuberc kuberc"), &[("KUBERC", "off")], "").ends(2, &["mutually exclusive"]);
    place.run_with("lint crd.yaml", &[("KUBERC", "none")], "").ends(2, &["cannot read none"]);
}
