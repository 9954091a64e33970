//! A client of the language server, over its standard input and output.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A client with its server.
pub struct Editor {
    pub server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: i64,
    version: i64,
}

impl Editor {
    /// Starts the server in a workspace.
    pub fn start(folder: &Path, options: &Value) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
        Self::spawn(command.arg("lsp").env("KUBECONFIG", "/nonexistent"), folder, options)
    }

    /// Starts a server with another command.
    pub fn spawn(command: &mut Command, folder: &Path, options: &Value) -> Self {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut editor = Self { server, input, output, id: 0, version: 0 };
        let root = format!("file://{}", folder.display());
        let folders = json!([{"uri": root, "name": "w"}]);
        let params = json!({
            "processId": 1,
            "capabilities": {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}},
            "workspaceFolders": folders,
            "initializationOptions": options,
        });
        let answer = editor.request("initialize", &params);
        assert_eq!(answer["serverInfo"]["name"], "kubectl-crdx");
        editor.notify("initialized", &json!({}));
        editor
    }

    fn write(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            match line.trim() {
                "" => break,
                header => {
                    if let Some(number) = header.strip_prefix("Content-Length: ") {
                        length = number.parse().unwrap();
                    }
                }
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The result of a request.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read();
            if message["id"] == json!(id) {
                assert_eq!(message["error"], Value::Null, "{message}");
                return message["result"].clone();
            }
        }
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let file = json!({"uri": uri, "languageId": "yaml", "version": 0, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": file}));
    }

    pub fn replace(&mut self, uri: &str, from: (u64, u64), to: (u64, u64), text: &str) {
        self.version += 1;
        let at = |(line, character): (u64, u64)| json!({"line": line, "character": character});
        let change = json!({"range": {"start": at(from), "end": at(to)}, "text": text});
        let file = json!({"uri": uri, "version": self.version});
        self.notify("textDocument/didChange", &json!({"textDocument": file, "contentChanges": [change]}));
    }

    /// The next notification of a method.
    pub fn notified(&mut self, method: &str) -> Value {
        loop {
            let message = self.read();
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    /// Responds to the next request of the server.
    pub fn respond(&mut self, method: &str, result: &Value) {
        loop {
            let message = self.read();
            if message["method"] == method {
                let id = &message["id"];
                self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
                return;
            }
        }
    }

    /// The code actions at a position.
    pub fn actions(&mut self, uri: &str, (line, character): (u64, u64)) -> Vec<Value> {
        let at = json!({"line": line, "character": character});
        let range = json!({"start": at, "end": at});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
        self.request("textDocument/codeAction", &params).as_array().unwrap().clone()
    }

    /// The next diagnostics of a file, as `line:character-line:character severity message`.
    pub fn diagnostics(&mut self, uri: &str) -> Vec<String> {
        loop {
            let message = self.read();
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                let show = |found: &Value| {
                    let at =
                        |end: &str| format!("{}:{}", found["range"][end]["line"], found["range"][end]["character"]);
                    let message = found["message"].as_str().unwrap();
                    format!("{}-{} {} {message}", at("start"), at("end"), found["severity"])
                };
                return message["params"]["diagnostics"].as_array().unwrap().iter().map(show).collect();
            }
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The URI of a file in a folder.
pub fn uri(folder: &Path, name: &str) -> String {
    format!("file://{}", folder.join(name).display())
}

/// The text after the edits of a code action in one file.
pub fn applied(text: &str, action: &Value) -> String {
    let changes = action["edit"]["changes"].as_object().unwrap();
    let mut edits: Vec<&Value> = changes.values().flat_map(|edits| edits.as_array().unwrap()).collect();
    // From the end, so that the positions of the others stay right.
    edits.sort_by_key(|edit| (edit["range"]["start"]["line"].as_u64(), edit["range"]["start"]["character"].as_u64()));
    let offset = |position: &Value| {
        let (line, character) = (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
        let start: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
        let mut units = 0;
        let before = text[start..].chars().take_while(|c| {
            units += c.len_utf16() as u64;
            units <= character
        });
        start + before.map(char::len_utf8).sum::<usize>()
    };
    let mut new = text.to_owned();
    for edit in edits.into_iter().rev() {
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        new.replace_range(range, edit["newText"].as_str().unwrap());
    }
    new
}
