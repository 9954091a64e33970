//! A session with any messages and edits, for a test and for the fuzz target `lsp`.

use super::client::Client;
use crdx_editor::{Position, Range, Settings, Text, TextChange, serve};
use crdx_server::server::Timestamp;
use crdx_value::STACK_SIZE;
use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};
use std::thread;

/// What a client does: a number for the message, numbers for positions, and a text.
pub type Step<'a> = (u8, [u8; 4], &'a str);

const START: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: as, kind: A}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string, enum: [é, 😀]}}}}}
---
apiVersion: example.com/v1
kind: A
metadata: {name: a}
spec:
  a: 😀
";
const FILES: [&str; 3] = ["untitled:a.yaml", "untitled:b.testsuite.yaml", "untitled:c.json"];
const REQUESTS: [&str; 5] = ["hover", "completion", "codeAction", "definition", "documentSymbol"];

fn notify(method: &str, params: &Value) -> Message {
    Notification::new(method.to_owned(), params).into()
}

fn position(line: u8, character: u8) -> Position {
    // A few positions are far behind the end.
    let far = |n: u8| if n == u8::MAX { u32::MAX } else { u32::from(n) };
    Position { line: far(line), character: far(character) }
}

/// Edits a text on both sides.
///
/// # Panics
/// The texts differ.
pub fn edits(steps: &[Step<'_>]) {
    let mut server = Text::new(START.to_owned());
    let mut client = Client(START.encode_utf16().collect());
    for (kind, [a, b, c, d], text) in steps {
        let range = (kind % 16 > 0).then(|| Range { start: position(*a, *b), end: position(*c, *d) });
        let change = TextChange { range, text: (*text).to_owned() };
        client.edit(&change);
        server.edit(change);
        assert!(server.content().encode_utf16().eq(client.0.iter().copied()));
    }
}

fn message(number: usize, (kind, [a, b, c, d], text): &Step<'_>) -> Message {
    // No cluster is contacted.
    let text = &*text.replace("live", "life");
    let uri = FILES[usize::from(kind / 16) % FILES.len()];
    let document = json!({"uri": uri});
    let range = json!({"start": position(*a, *b), "end": position(*c, *d)});
    let id = i32::try_from(number).unwrap_or_default();
    match kind % 16 {
        0 => notify("textDocument/didClose", &json!({"textDocument": document})),
        1 | 2 => {
            let document = json!({"uri": uri, "languageId": "yaml", "version": 0, "text": START});
            notify("textDocument/didOpen", &json!({"textDocument": document}))
        }
        3 => notify("textDocument/didSave", &json!({"textDocument": document})),
        4 => match serde_json::from_str::<Value>(text) {
            Ok(settings) => notify("workspace/didChangeConfiguration", &json!({"settings": settings})),
            Err(_) => notify(text, &Value::Null),
        },
        5 => match serde_json::from_str::<Message>(text) {
            Ok(message) => message,
            Err(_) => Request::new(id.into(), (*text).to_owned(), Value::Null).into(),
        },
        kind @ 6..=8 => {
            let method = format!("textDocument/{}", REQUESTS[usize::from(*a) % REQUESTS.len()]);
            let params = match kind {
                6 => json!({"textDocument": document, "position": position(*c, *d), "range": range}),
                7 => json!({"textDocument": document}),
                _ => Value::Null,
            };
            Request::new(id.into(), method, params).into()
        }
        _ => {
            let change = json!({"range": range, "text": text});
            let document = json!({"uri": uri, "version": number});
            notify("textDocument/didChange", &json!({"textDocument": document, "contentChanges": [change]}))
        }
    }
}

/// Sends the messages to a server and ends the session; returns the messages of the server.
///
/// # Panics
/// The server panics.
pub fn session(steps: &[Step<'_>]) -> Vec<Message> {
    let (server, client) = Connection::memory();
    let settings = Settings { skips_workspace: true, ..Settings::default() };
    let run = move || drop(serve(&server, settings, Timestamp::default));
    let thread = thread::Builder::new().stack_size(STACK_SIZE).spawn(run).unwrap();
    // The server waits until its messages are read.
    let receiver = client.receiver.clone();
    let reader = thread::spawn(move || receiver.into_iter().collect::<Vec<_>>());
    let first = Request::new((-1).into(), "initialize".to_owned(), json!({"capabilities": {}})).into();
    let last = [Request::new((-2).into(), "shutdown".to_owned(), Value::Null).into(), notify("exit", &Value::Null)];
    let between = steps.iter().enumerate().map(|(number, step)| message(number, step));
    for message in [first, notify("initialized", &json!({}))].into_iter().chain(between).chain(last) {
        // A message may end the session.
        if client.sender.send(message).is_err() {
            break;
        }
    }
    drop(client);
    thread.join().expect("the server does not panic");
    reader.join().expect("the reader does not panic")
}
