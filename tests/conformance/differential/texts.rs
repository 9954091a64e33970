//! Random texts that CEL libraries parse: mostly well-formed ones, put together from valid and invalid parts.

use super::mutate::Rng;

#[derive(Clone, Copy)]
pub enum Text {
    Url,
    Address,
    Network,
    Quantity,
    Version,
    Time,
    Span,
    Zone,
    Number,
    Name,
    Uuid,
    Base64,
    Unusual,
}

const ALL: [Text; 13] = [
    Text::Url,
    Text::Address,
    Text::Network,
    Text::Quantity,
    Text::Version,
    Text::Time,
    Text::Span,
    Text::Zone,
    Text::Number,
    Text::Name,
    Text::Uuid,
    Text::Base64,
    Text::Unusual,
];

/// A string literal of CEL with a random text; one in ten is a text of another kind.
pub fn literal(kind: Text, rng: &mut Rng) -> String {
    let kind = if rng.chance(10) { *rng.pick(&ALL) } else { kind };
    let mut text = of(kind, rng);
    if rng.chance(8) {
        change(&mut text, rng);
    }
    quoted(&text, rng)
}

/// Writes a text in one of the forms of CEL's string literals.
fn quoted(text: &str, rng: &mut Rng) -> String {
    let plain = !text.chars().any(|c| c == '\\' || c == '\'' || c == '"' || c.is_control());
    match rng.below(16) {
        0 if plain => format!("\"{text}\""),
        1 if plain => format!("'''{text}'''"),
        2 if plain => format!("\"\"\"{text}\"\"\""),
        3 if plain => format!("r'{text}'"),
        4 => format!("'{}'", text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect::<Vec<_>>().concat()),
        _ => {
            let escaped = text.chars().map(|c| match c {
                '\'' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            });
            format!("'{}'", escaped.collect::<String>())
        }
    }
}

/// Removes, doubles or inserts a character.
fn change(text: &mut String, rng: &mut Rng) {
    let mut letters: Vec<char> = text.chars().collect();
    let at = rng.below(letters.len() + 1);
    let inserted = ['.', '-', ':', '/', '%', ' ', '0', '1', 'Z', 'é', '+', '@', '\u{7f}', '[', '#', '?', '_'];
    match rng.below(3) {
        0 if at < letters.len() => drop(letters.remove(at)),
        1 if at < letters.len() => letters.insert(at, letters[at]),
        _ => letters.insert(at, *rng.pick(&inserted)),
    }
    *text = letters.into_iter().collect();
}

fn of(kind: Text, rng: &mut Rng) -> String {
    match kind {
        Text::Url => url(rng),
        Text::Address => address(rng),
        Text::Network => network(rng),
        Text::Quantity => quantity(rng),
        Text::Version => version(rng),
        Text::Time => time(rng),
        Text::Span => span(rng),
        Text::Zone => part(
            rng,
            &[
                "America/New_York",
                "Europe/Berlin",
                "UTC",
                "Local",
                "",
                "+02:00",
                "-05:30",
                "02:00",
                "+02:60",
                "-99:00",
                "+2:5",
                "a:1",
                "1:b",
                "../etc",
                "/x",
                "Nowhere",
                "EST",
                "Asia/Kathmandu",
                "america/new_york",
                "+9999999999999999999:0",
                ":",
                "-0:30",
            ],
        ),
        Text::Number => number(rng),
        Text::Name => name(rng),
        Text::Uuid => part(
            rng,
            &[
                "3d813cbb-47fb-32ba-91df-831e1593ac29",
                "3D813CBB-47FB-32BA-91DF-831E1593AC29",
                "3d813cbb47fb32ba91df831e1593ac29",
                "3d813cbb-47fb-32ba-91df-831e1593ac2",
                "3d813cbb-47fb-32ba-91df-831e1593ac2g",
                "00000000-0000-0000-0000-000000000000",
            ],
        ),
        Text::Base64 => part(rng, &["aGVsbG8=", "aGVsbG8", "aA==", "a===", "", "aGk_", "a+/b", "aGVs\nbG8=", "===="]),
        Text::Unusual => part(
            rng,
            &[
                "",
                " ",
                "\u{7f}",
                "\u{0}",
                "é",
                "e\u{301}",
                "😀",
                "\u{2028}",
                "\t x \u{a0}",
                "İ",
                "ß",
                "a\u{ad}b",
                "\u{feff}",
                "%",
                "%s",
                "'",
                "\"",
                "\\",
                "$1",
                "\r\n",
                "\u{85}\u{b}",
            ],
        ),
    }
}

fn part(rng: &mut Rng, parts: &[&str]) -> String {
    (*rng.pick(parts)).to_owned()
}

fn url(rng: &mut Rng) -> String {
    if rng.chance(12) {
        return part(
            rng,
            &[
                "*",
                "",
                "://",
                ":",
                "/",
                "//",
                "///a",
                "a:b",
                "1a:b",
                "mailto:a@b",
                "a b:c",
                "?x",
                "#f",
                "http:",
                "http:?",
                "/?",
                "https://?q",
            ],
        );
    }
    let scheme = part(rng, &["https:", "http:", "HTTP:", "postgres:", "a+b.c-d:", "", "", "é:"]);
    let user =
        part(rng, &["", "", "", "", "user@", "user:pass@", "u%41:p%20@", "u er@", "u:@", "@", "a@b@", "u%zz@", "é@"]);
    let host = if rng.chance(4) {
        let zone = part(rng, &["", "", "%25eth0", "%eth0", "%25", "%25a%20b", "%25%zz"]);
        format!("[{}{zone}{}", address(rng), part(rng, &["]", "]", "]", "", "]]", "]x"]))
    } else {
        part(
            rng,
            &[
                "example.com",
                "EXAMPLE.com",
                "10.0.0.1",
                "",
                "ex%41mple.com",
                "ex ample",
                "a:1:2",
                "h%C3%A9",
                "h%zz",
                "é.com",
                "a_b",
                "x[1]",
                "a<b>",
                "a\"b",
                "a%20b",
            ],
        )
    };
    let port = part(rng, &["", "", ":80", ":8080", ":", ":x", ":-1", ":99999", ":8%30"]);
    let path = part(
        rng,
        &[
            "",
            "/",
            "/a/b",
            "/a%20b",
            "/a b",
            "/%2F",
            "/%zz",
            "/é",
            "/a;b,c=d",
            "/a:b",
            "/$&+,/:;=@",
            "/[x]",
            "/{x}",
            "//x",
            "/a%",
            "/.%2e/",
            "/*",
            "*",
            "x",
            "/!'()*",
            "/a\"b",
        ],
    );
    let query = part(
        rng,
        &[
            "",
            "",
            "",
            "?",
            "?x=1",
            "?x=1&x=2&y",
            "?a;b&c=d",
            "?%zz=1",
            "?a=%zz",
            "?a+b=c+d",
            "?&&=",
            "?é=è",
            "?x=%C3%A9",
            "??",
            "?a=b?c",
            "?%ff=1",
        ],
    );
    let fragment = part(rng, &["", "", "", "", "#", "#f", "#a b", "#%zz", "#%41", "#é", "#a#b", "#!$&()*+,/:;=?@"]);
    let slashes = if scheme.is_empty() && rng.chance(2) {
        String::new()
    } else {
        part(rng, &["//", "//", "//", "//", "//", "", "/", "///"])
    };
    if slashes.is_empty() {
        return format!("{scheme}{path}{query}{fragment}");
    }
    format!("{scheme}{slashes}{user}{host}{port}{path}{query}{fragment}")
}

fn address(rng: &mut Rng) -> String {
    match rng.below(8) {
        0 => {
            let octets: Vec<String> = (0..*rng.pick(&[4, 4, 4, 3, 5, 1]))
                .map(|_| {
                    part(
                        rng,
                        &[
                            "0", "1", "10", "127", "169", "224", "254", "255", "256", "01", "00", "", "a", "1000", "é",
                            "-1",
                        ],
                    )
                })
                .collect();
            octets.join(".")
        }
        1 | 2 => part(
            rng,
            &[
                "10.0.0.1",
                "127.0.0.1",
                "169.254.1.1",
                "224.0.0.1",
                "224.0.1.1",
                "239.1.2.3",
                "0.0.0.0",
                "255.255.255.255",
                "192.168.0.1",
                "8.8.8.8",
                "172.16.0.1",
            ],
        ),
        3 | 4 => part(
            rng,
            &[
                "::1",
                "::",
                "fe80::1",
                "ff02::1",
                "ff12::1",
                "ff05::2",
                "2001:db8::A",
                "2001:DB8:0:0:0:0:0:1",
                "2001:db8::1",
                "::ffff:10.0.0.1",
                "::ffff:a00:1",
                "fc00::1",
                "::10.0.0.1",
                "64:ff9b::1.2.3.4",
            ],
        ),
        5 => {
            let groups: Vec<String> = (0..rng.below(10))
                .map(|_| part(rng, &["0", "1", "ffff", "0001", "00001", "A", "", "g", "10000", "1.2.3.4", "db8"]))
                .collect();
            groups.join(":")
        }
        6 => {
            let side = |rng: &mut Rng| {
                let groups: Vec<&str> =
                    (0..rng.below(5)).map(|_| *rng.pick(&["0", "1", "fe80", "abcd", "0db8"])).collect();
                groups.join(":")
            };
            format!(
                "{}::{}{}",
                side(rng),
                side(rng),
                part(rng, &["", "", "", ":1.2.3.4", "::", "%eth0", "%", "%a%b", ":", ":1.2.3.256", ":1.2.3"])
            )
        }
        _ => part(
            rng,
            &[
                "",
                "a",
                "%eth0",
                "1",
                ".",
                ":",
                ":::",
                "1.2.3.",
                ".1.2.3",
                "1..2.3",
                "1.2.3.4 ",
                "fe80::1%eth0",
                "1.2.3.4%eth0",
                "1:2:3:4:5:6:7:8:9",
                "1:2:3:4:5:6:7::",
                "1:2:3:4:5:6:7:8::",
            ],
        ),
    }
}

fn network(rng: &mut Rng) -> String {
    let bits = part(
        rng,
        &[
            "0",
            "1",
            "8",
            "16",
            "24",
            "31",
            "32",
            "33",
            "64",
            "104",
            "127",
            "128",
            "129",
            "",
            "08",
            "-1",
            "+8",
            "x",
            "999999999999",
            "8/8",
        ],
    );
    match rng.below(12) {
        0 => address(rng),
        1 => format!("/{bits}"),
        2 => format!("{}%eth0/{bits}", address(rng)),
        3..=6 => format!(
            "{}/{}",
            part(rng, &["10.0.0.0", "10.1.2.3", "192.168.0.0", "0.0.0.0", "255.255.255.255"]),
            rng.below(33)
        ),
        7..=9 => {
            format!("{}/{}", part(rng, &["2001:db8::", "::", "fe80::1", "2001:db8:0:1::", "ffff::"]), rng.below(129))
        }
        _ => format!("{}/{bits}", address(rng)),
    }
}

fn number(rng: &mut Rng) -> String {
    let sign = part(rng, &["", "", "", "-", "+", "--"]);
    let digits = part(
        rng,
        &[
            "0",
            "1",
            "7",
            "10",
            "12",
            "007",
            "1024",
            "999",
            "1000000",
            "123456789",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "99999999999999999999999999999999",
            "000000000000000000000000001",
            "",
            "1_000",
            "0x1F",
            "100000000000000000",
            "999999999999999999",
            "12345678901234567890",
        ],
    );
    let fraction = part(
        rng,
        &[
            "",
            "",
            "",
            "",
            ".5",
            ".",
            ".25",
            ".000",
            ".123456789",
            ".1234567890123",
            ".0000000001",
            ".999999999999",
            ".1.2",
            ".050",
        ],
    );
    format!("{sign}{digits}{fraction}")
}

fn quantity(rng: &mut Rng) -> String {
    let suffix = part(
        rng,
        &[
            "", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E3", "e-3",
            "e+3", "e0", "e18", "e19", "e-9", "e-12", "E-30", "e", "e1.5", "K", "ki", "i", "x", " ", "mm", "e99", "µ",
        ],
    );
    format!("{}{suffix}", number(rng))
}

fn version(rng: &mut Rng) -> String {
    let component = |rng: &mut Rng| {
        part(
            rng,
            &[
                "0",
                "1",
                "2",
                "10",
                "01",
                "00",
                "",
                "x",
                "18446744073709551615",
                "18446744073709551616",
                "-1",
                "1a",
                "007",
            ],
        )
    };
    let simple = |rng: &mut Rng| part(rng, &["0", "1", "2", "3", "10"]);
    let count = *rng.pick(&[3, 3, 3, 3, 3, 2, 1, 4]);
    let odd = rng.chance(3);
    let parts: Vec<String> =
        (0..count).map(|_| if odd && rng.chance(2) { component(rng) } else { simple(rng) }).collect();
    let prefix = part(rng, &["", "", "", "", "v", "V", "vv", " ", "="]);
    let before = part(
        rng,
        &[
            "",
            "",
            "",
            "-alpha",
            "-alpha.1",
            "-alpha.beta",
            "-1",
            "-01",
            "-0",
            "-a..b",
            "-",
            "-é",
            "-rc.1.2",
            "-99999999999999999999",
            "-a_b",
            "-alpha.10",
            "-beta",
            "-x-y",
            "-1.a",
        ],
    );
    let build = part(rng, &["", "", "", "+build", "+b.1", "+", "+a..b", "+é", "+001", "+a+b", "+x-y", "+a_b"]);
    format!("{prefix}{}{before}{build}", parts.join("."))
}

fn time(rng: &mut Rng) -> String {
    let year = part(
        rng,
        &["2024", "2023", "1970", "1969", "0001", "9999", "0000", "1900", "2000", "24", "10000", "-001", "1600"],
    );
    let month = part(rng, &["01", "02", "03", "06", "12", "1", "13", "00", "2"]);
    let day = part(rng, &["01", "28", "29", "30", "31", "32", "00", "1"]);
    let date = format!("{year}-{month}-{day}");
    let clock = part(
        rng,
        &[
            "00:00:00",
            "12:30:15",
            "23:59:59",
            "23:59:60",
            "24:00:00",
            "1:02:03",
            "12:60:00",
            "12:30",
            "12:30:15.5",
            "12:30:15.123456789",
            "12:30:15.1234567891",
            "12:30:15.",
            "12:30:15,5",
            "23:59:59.999999999",
            "00:00:00.000",
        ],
    );
    let zone = part(
        rng,
        &[
            "Z", "Z", "Z", "+00:00", "-00:00", "+02:00", "-05:30", "+14:00", "+24:00", "+23:59", "-12:60", "z", "",
            "+0200", "+2:00", " UTC", "+25:00",
        ],
    );
    match rng.below(10) {
        0 => date,
        1 => format!("{date} {clock}{zone}"),
        2 => format!("{date}t{clock}{zone}"),
        3 => clock,
        _ => format!("{date}T{clock}{zone}"),
    }
}

fn span(rng: &mut Rng) -> String {
    let mut text = part(rng, &["", "", "", "-", "+", "--", " "]);
    for _ in 0..*rng.pick(&[1, 1, 1, 2, 2, 3, 0]) {
        let amount = part(
            rng,
            &[
                "0",
                "1",
                "5",
                "90",
                "1.5",
                ".5",
                "5.",
                ".",
                "100",
                "3600",
                "9223372036",
                "9223372037",
                "2562047",
                "2562048",
                "9223372036854775807",
                "9223372036854775808",
                "99999999999999999999",
                "0.000000001",
                "1.99999999999999999999",
                "",
                "1e3",
                "106751",
            ],
        );
        text.push_str(&amount);
        text.push_str(
            rng.pick::<&str>(&["h", "m", "s", "ms", "us", "µs", "μs", "ns", "s", "h", "d", "", " h", "H", "days"]),
        );
    }
    text
}

fn name(rng: &mut Rng) -> String {
    let label = |rng: &mut Rng| match rng.below(14) {
        0 => "a".repeat(*rng.pick(&[63, 64, 62])),
        _ => part(
            rng,
            &["a", "abc", "a-b", "-a", "a-", "A", "a_b", "1a", "1", "a.b", "", "é", "a b", "Abc.D", "a--b", "x1-"],
        ),
    };
    match rng.below(8) {
        0 => label(rng),
        1 => format!("{}.{}", label(rng), label(rng)),
        2 => format!("{}/{}", label(rng), label(rng)),
        3 => format!("{}.{}/{}", label(rng), label(rng), label(rng)),
        4 => format!("{}/{}/{}", label(rng), label(rng), label(rng)),
        5 => (0..*rng.pick(&[4, 5])).map(|_| "a".repeat(60)).collect::<Vec<_>>().join("."),
        6 => format!("{}-", label(rng)),
        _ => format!("{}{}", label(rng), label(rng)),
    }
}
