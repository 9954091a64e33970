//! Reads unknown fields from the messages of the server.

/// Returns the path of the field that a warning or an error of field validation does not know.
pub fn unknown_field(message: &str) -> Option<&str> {
    message.strip_prefix("unknown field \"")?.strip_suffix('"')
}

/// Returns the paths of the fields that an error of server-side apply does not know. Only its message names them.
pub fn undeclared_fields(message: &str) -> impl Iterator<Item = &str> {
    let path = |line| -> Option<&str> {
        let (before, _) = str::split_once(line, ": field not declared in schema")?;
        before.rsplit(' ').next()?.strip_prefix('.')
    };
    message.lines().filter_map(path)
}
