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

    /// Reads the number and the value of the next field that `knows` accepts, and skips others; `None` at the end.
    /// `knows` is called with the number and the wire type of a field, and returns an error if they do not match.
    ///
    /// # Errors
    /// Returns the message for malformed bytes, which contains the name of the `message`, if it is not empty.
    pub fn known(
        &mut self,
        message: &str,
        mut knows: impl FnMut(u64, u64) -> Result<bool, String>,
    ) -> Result<Option<(u64, Wire<'b>)>, String> {
        let of = if message.is_empty() { String::new() } else { format!("{message}: ") };
        while !self.0.is_empty() {
            let start = self.0;
            let tag = self.number()?;
            // The generated code keeps 32 bits of the number.
            let (number, wire) = ((tag >> 3) as i32, tag & 7);
            if wire == 4 {
                return Err(format!("proto: {of}wiretype end group for non-group"));
            }
            if number <= 0 {
                return Err(format!("proto: {of}illegal tag {number} (wire type {wire})"));
            }
            let number = u64::from(number.unsigned_abs());
            if knows(number, wire)? {
                return Ok(Some((number, self.value(wire)?)));
            }
            self.0 = start;
            self.skip()?;
        }
        Ok(None)
    }

    /// Reads the key (1) or the value (2) of a map entry, and skips other fields; `None` at the end. The generated code
    /// expects a length and bytes after both numbers, whatever the wire type.
    ///
    /// # Errors
    /// Returns the message for malformed bytes.
    pub fn entry(&mut self) -> Result<Option<(i32, &'b [u8])>, String> {
        while !self.0.is_empty() {
            let start = self.0;
            let number = (self.number()? >> 3) as i32;
            if let 1 | 2 = number {
                return Ok(Some((number, self.bytes()?)));
            }
            self.0 = start;
            self.skip()?;
        }
        Ok(None)
    }

    /// Skips a field or a group (`skipGenerated`).
    fn skip(&mut self) -> Result<(), String> {
        let mut depth = 0_usize;
        loop {
            let tag = self.number()?;
            match tag & 7 {
                3 => depth += 1,
                4 => depth = depth.checked_sub(1).ok_or("proto: unexpected end of group")?,
                wire => drop(self.value(wire)?),
            }
            if depth == 0 {
                return Ok(());
            }
        }
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
        Ok(Some((tag >> 3, self.value(tag & 7)?)))
    }

    fn value(&mut self, wire: u64) -> Result<Wire<'b>, String> {
        Ok(match wire {
            0 => Wire::Number(self.number()?),
            1 => Wire::Eight(self.take(8)?.try_into().unwrap_or_default()),
            2 => Wire::Bytes(self.bytes()?),
            5 => Wire::Four(self.take(4)?.try_into().unwrap_or_default()),
            other => return Err(format!("proto: illegal wireType {other}")),
        })
    }

    /// Reads a length and as many bytes.
    fn bytes(&mut self) -> Result<&'b [u8], String> {
        let length = i64::try_from(self.number()?).map_err(|_| "proto: negative length found during unmarshaling")?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
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
