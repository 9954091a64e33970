//! A test of an operator in process: a server with the operator's CRD runs on a free port and ends with the test.
//!
//! `cargo run -p crdx-examples --example serve`

use crdx_server::server::{Method, Request, Server};
use crdx_text as text;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Without a port: requests and responses are values.
    let server = Arc::new(Server::new(crdx_value::release::Release::NEWEST, 1));
    let crd = text::yaml::read(include_bytes!("../clients/kites.crd.yaml")).map_err(|e| e.message)?;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let answer = server.handle(&Request::new(Method::Post, path, crd));
    assert_eq!(answer.code, 201);

    // With a port: any client can be used, here a plain socket.
    let running = crdx_serve::start(crdx_serve::Runtime::new()?, server, crdx_serve::ServeOptions::default())?;
    let mut socket = TcpStream::connect(running.url().trim_start_matches("http://"))?;
    socket
        .write_all(b"GET /apis/toys.example.com/v1/kites HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    println!("{answer}");
    assert!(answer.contains("KiteList"));
    Ok(())
}
