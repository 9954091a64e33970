//! Reads the fields of Protobuf messages in the wire format, with the errors of gogo/protobuf's generated decoders.

/// The encoded value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Wire<'b> {
    /// A variable-length integer.
    Number(u64),
    /// Eight bytes, little-endian.
    Eight([u8; 8]),
    /// A text, bytes or a message.
    Bytes(&'b [u8]),
    /// Four bytes, little-endian.
    Four([u8; 4]),
}

/// The remaining bytes of a message.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// A reader of a message.
    pub fn new(message: &'b [u8]) -> Self {
        Self(message)
    }

    /// Reads the number and the value of the next field; `None` at the end.
    ///
    /// # Errors
    /// Returns the message for malformed bytes.
    pub fn field(&mut self) -> Result<Option<(u64, Wire<'b>)>, String> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.number()?),
            1 => Wire::Eight(self.take(8)?.try_into().unwrap_or_default()),
            2 => {
                let length = self.number()?;
                Wire::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => Wire::Four(self.take(4)?.try_into().unwrap_or_default()),
            other => return Err(format!("proto: illegal wireType {other}")),
        };
        Ok(Some((tag >> 3, wire)))
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.take(1)? else { break };
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("proto: integer overflow".to_owned())
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("unexpected EOF")?;
        self.0 = rest;
        Ok(taken)
    }
}
