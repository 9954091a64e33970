//! The messages of the Model Context Protocol over standard input and output: JSON-RPC 2.0, one message in a line
//! (<https://modelcontextprotocol.io/specification>).

use super::call::ToolResult;
use super::tools::{self, Tool};
use crdx_value::{Value, object};

/// The versions of the protocol whose messages are the same here, newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
const INSTRUCTIONS: &str = "Shows exactly what the Kubernetes API server would do with custom resources, CRDs and built-in objects: \
                            validate before you suggest a manifest, lint a CRD before you suggest it. Paths are relative to the working directory.";

/// An error of JSON-RPC.
#[derive(Debug, thiserror::Error)]
enum RpcError {
    #[error("the message is not JSON: {0}")]
    NotJson(String),
    #[error("the message is longer than {0} bytes: give files instead of their texts")]
    TooLong(u64),
    #[error("the message has no method")]
    NoMethod,
    #[error("there is no method {0}")]
    UnknownMethod(String),
    #[error("there is no tool {0:?}: tools/list names them")]
    UnknownTool(String),
}

impl RpcError {
    fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => -32700,
            Self::NoMethod | Self::TooLong(_) => -32600,
            Self::UnknownMethod(_) => -32601,
            Self::UnknownTool(_) => -32602,
        }
    }
}

/// Answers a message; `None` for a notification. `call` runs a tool.
pub fn answer(line: &[u8], call: &dyn Fn(&Tool, &Value) -> ToolResult) -> Option<Value> {
    let message = match crdx_text::json::read(line) {
        Ok(message) => message,
        Err(error) => return Some(failed(Value::Null, &RpcError::NotJson(error.to_string()))),
    };
    let id = message.get("id").cloned();
    let answered = match message.str_at(&["method"]) {
        Some(method) => result(method, message.get("params").unwrap_or(&Value::Null), call),
        None => Err(RpcError::NoMethod),
    };
    // A message without an ID wants no answer.
    let id = id?;
    Some(match answered {
        Ok(result) => object([("id", id), ("jsonrpc", "2.0".into()), ("result", result)]),
        Err(error) => failed(id, &error),
    })
}

/// The answer to a message that is longer than `longest` bytes.
pub fn too_long(longest: u64) -> Value {
    failed(Value::Null, &RpcError::TooLong(longest))
}

fn failed(id: Value, error: &RpcError) -> Value {
    let error = object([("code", Value::Int(error.code())), ("message", error.to_string().into())]);
    object([("error", error), ("id", id), ("jsonrpc", "2.0".into())])
}

fn result(method: &str, params: &Value, call: &dyn Fn(&Tool, &Value) -> ToolResult) -> Result<Value, RpcError> {
    match method {
        "initialize" => Ok(initialized(params)),
        "ping" => Ok(object::<&str, Value>([])),
        "tools/list" => {
            let tools: Vec<Value> = tools::ALL.iter().map(Tool::describe).collect();
            Ok(object([("tools", tools)]))
        }
        "tools/call" => {
            let name = params.str_at(&["name"]).unwrap_or_default();
            let tool = tools::ALL.iter().find(|tool| tool.name == name);
            let tool = tool.ok_or_else(|| RpcError::UnknownTool(name.to_owned()))?;
            let ToolResult { text, is_error } = call(tool, params.get("arguments").unwrap_or(&Value::Null));
            let content = object([("text", Value::from(text)), ("type", "text".into())]);
            Ok(object([("content", Value::from(vec![content])), ("isError", is_error.into())]))
        }
        // Notifications need no answer.
        _ if method.starts_with("notifications/") => Ok(Value::Null),
        other => Err(RpcError::UnknownMethod(other.to_owned())),
    }
}

fn initialized(params: &Value) -> Value {
    let wanted = params.str_at(&["protocolVersion"]).unwrap_or_default();
    let [newest, ..] = VERSIONS;
    let version = VERSIONS.into_iter().find(|version| *version == wanted).unwrap_or(newest);
    let server = object([("name", "kubectl-crdx"), ("version", env!("CARGO_PKG_VERSION"))]);
    object([
        ("capabilities", object([("tools", object::<&str, Value>([]))])),
        ("instructions", INSTRUCTIONS.into()),
        ("protocolVersion", version.into()),
        ("serverInfo", server),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    fn ask(message: &str) -> Option<String> {
        let call = |tool: &Tool, arguments: &Value| ToolResult {
            text: format!("{} {}", tool.name, to_string(arguments)),
            is_error: false,
        };
        answer(message.as_bytes(), &call).map(|answer| to_string(&answer))
    }

    #[test]
    fn the_protocol_version_is_negotiated() {
        let version = |wanted: &str| {
            let message = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{wanted}"}}}}"#
            );
            let answer = crdx_text::json::read(ask(&message).unwrap().as_bytes()).unwrap();
            answer.str_at(&["result", "protocolVersion"]).map(str::to_owned)
        };
        assert_eq!(version("2024-11-05").as_deref(), Some("2024-11-05"));
        assert_eq!(version("2099-01-01").as_deref(), Some("2025-06-18"));
    }

    #[test]
    fn tools_are_called_by_name() {
        let message = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"cel","arguments":{"expression":"1"}}}"#;
        assert_eq!(
            ask(message).unwrap(),
            r#"{"id":"a","jsonrpc":"2.0","result":{"content":[{"text":"cel {\"expression\":\"1\"}","type":"text"}],"isError":false}}"#
        );
        let unknown = ask(&message.replace("\"cel\"", "\"apply\"")).unwrap();
        assert!(unknown.contains(r#""code":-32602"#) && unknown.contains("there is no tool"), "{unknown}");
    }

    #[test]
    fn notifications_and_broken_messages() {
        assert_eq!(ask(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
        assert!(ask("{").unwrap().contains("-32700"));
        assert!(ask(r#"{"id":1,"method":"resources/list"}"#).unwrap().contains("-32601"));
        assert!(ask(r#"{"id":1}"#).unwrap().contains("-32600"));
    }
}
