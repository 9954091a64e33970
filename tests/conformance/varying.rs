//! Patterns for what varies between two runs of a server, compiled once.

use regex::Regex;
use std::sync::LazyLock;

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident: $pattern:expr;)*) => {
        $($(#[$doc])* pub static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).unwrap());)*
    };
}

patterns! {
    UID: "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    TIME: r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ";
    /// A name that the server generated.
    GENERATED_NAME: "gen-[a-z0-9]{5}\\b";
    /// The members of an object that an error quotes.
    QUOTED_MEMBER: r#"(creationTimestamp|time|resourceVersion)\\+":\\+"[^"\\]*\\+""#;
    RESOURCE_VERSION: r#"(resourceVersion"?: ?)"\d+""#;
    REVISION: r"revision=\d+";
    /// The hash in the address of an OpenAPI document.
    HASH: "hash=[0-9A-F]+";
    /// A revision in the text of an error.
    REVISION_IN_TEXT: r#"(current: |in the precondition \(|ResourceVersion in object meta: |ParseUint: parsing \\+")\d+"#;
    /// A time of the run in a cell of a Table.
    TIME_OF_RUN: r#""20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ""#;
    NUMBER: r"\d{2,}";
    /// The manager has the name of the server's executable.
    MANAGER: r"\bapiserver-1\.\d+";
    /// The time of an entry of managedFields, in JSON or YAML.
    WRITTEN: r#"\btime"?: ?"[^"]*""#;
    MANAGER_TIME: r#"("time":)"[^"]*""#;
    /// A cell of a Table as JSON that shows an age.
    AGE: r#""\d+[smh](\d+[sm])?""#;
    /// A cell of a date column, which shows an age or a time.
    AGE_OR_TIME: r"^\d+[smhdy]|^\d{4}-\d\d-\d\dT";
    AGE_OR_UNKNOWN: r"^\d+[smh]|^<unknown>";
    /// The object that an error of an invalid patch quotes.
    QUOTED_OBJECT: r#"(?s)(patch: )?Invalid value: "\{\\"apiVersion.*\}": "#;
    SELF_TYPE: r"selfType\d+";
    RECORD: r"(in record \()[^)]*\)";
    ADDRESS: r"\(0x[0-9a-f]{8,}\)";
    SEVERAL_ERRORS: r"(?s)( is invalid: )\[.*\]$";
}
