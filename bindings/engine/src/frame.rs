//! The unit of both streams: the lengths of a header and a body (32 bits each, little endian), the header in JSON, and the body.

use crdx_text::json;
use crdx_value::Value;
use std::io::{self, Read, Write};

/// The maximum length of a header or a body in bytes.
const LONGEST: u32 = 64 << 20;

/// A header and a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// A JSON object.
    pub header: Value,
    /// The body of a request or a reply, or an event of a watch.
    pub body: Vec<u8>,
}

impl Frame {
    /// Reads a frame; `None` at the end of the stream.
    ///
    /// # Errors
    /// Returns an error if the stream ends within a frame, or if the frame is too long or its header is not JSON.
    pub fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut first = [0];
        if input.read(&mut first)? == 0 {
            return Ok(None);
        }
        let mut rest = [0; 3];
        input.read_exact(&mut rest)?;
        let ([first], [second, third, fourth]) = (first, rest);
        let mut body = [0; 4];
        input.read_exact(&mut body)?;
        let header = read_bytes(input, u32::from_le_bytes([first, second, third, fourth]))?;
        let body = read_bytes(input, u32::from_le_bytes(body))?;
        let header = json::read(&header).map_err(|error| invalid(&error.to_string()))?;
        Ok(Some(Self { header, body }))
    }

    /// Writes the frame.
    ///
    /// # Errors
    /// Returns an error if the stream cannot be written.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let header = crdx_value::json::to_string(&self.header);
        let length = |bytes: usize| u32::try_from(bytes).map_err(|_| invalid("a frame is too long"));
        output.write_all(&length(header.len())?.to_le_bytes())?;
        output.write_all(&length(self.body.len())?.to_le_bytes())?;
        output.write_all(header.as_bytes())?;
        output.write_all(&self.body)
    }
}

fn read_bytes(input: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    if length > LONGEST {
        return Err(invalid("a frame is too long"));
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_was_written_is_read() {
        let header = json::read(br#"{"id":1,"path":"/api"}"#).unwrap();
        let frame = Frame { header, body: b"{}\n".to_vec() };
        let mut bytes = Vec::new();
        frame.write(&mut bytes).unwrap();
        frame.write(&mut bytes).unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(Frame::read(&mut input).unwrap(), Some(frame.clone()));
        assert_eq!(Frame::read(&mut input).unwrap(), Some(frame));
        assert_eq!(Frame::read(&mut input).unwrap(), None);
    }

    #[test]
    fn broken_frames_are_errors() {
        for bytes in [&b"\x02\0\0"[..], b"\x02\0\0\0\0\0\0\0{", b"\x01\0\0\0\0\0\0\0{", b"\xff\xff\xff\xff\0\0\0\0"] {
            assert!(Frame::read(&mut &*bytes).is_err(), "{bytes:?}");
        }
    }
}
