//! Parses the signatures in the library tables.

use super::Candidate;
use crate::{library::Overload, types::Type};

/// Parses the signature of an overload; `None` if it is malformed (a unit test parses all of them).
pub(super) fn read(overload: &'static Overload) -> Option<Candidate> {
    let mut reader = SignatureReader { rest: overload.signature, parameters: Vec::new() };
    reader.expect("(")?;
    let params = reader.types_until(")")?;
    reader.expect("->")?;
    let result = reader.type_()?;
    if !reader.rest.trim().is_empty() {
        return None;
    }
    Some(Candidate { overload, params, result, variables: reader.parameters.len() as u32 })
}

struct SignatureReader {
    rest: &'static str,
    parameters: Vec<&'static str>,
}

impl SignatureReader {
    fn expect(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn types_until(&mut self, end: &str) -> Option<Vec<Type>> {
        let mut types = Vec::new();
        if self.expect(end).is_some() {
            return Some(types);
        }
        loop {
            types.push(self.type_()?);
            if self.expect(",").is_none() {
                self.expect(end)?;
                return Some(types);
            }
        }
    }

    fn type_(&mut self) -> Option<Type> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).unwrap_or(rest.len());
        let (name, rest) = rest.split_at_checked(end)?;
        self.rest = rest;
        let mut inner = if self.expect("(").is_some() { self.types_until(")")? } else { Vec::new() }.into_iter();
        let type_ = match name {
            "dyn" => Type::Dyn,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            "list" => Type::list(inner.next()?),
            "map" => Type::map(inner.next()?, inner.next()?),
            "optional" => Type::optional(inner.next()?),
            "type" => Type::type_of(inner.next()?),
            // An opaque type of cel-go, unlike the object types that Kubernetes adds.
            _ if name.starts_with("net.") => Type::Opaque(name.into()),
            _ if name.contains('.') => Type::Object(name.into()),
            _ if name.len() == 1 => {
                let known = self.parameters.iter().position(|parameter| *parameter == name);
                Type::Var(known.unwrap_or_else(|| {
                    self.parameters.push(name);
                    self.parameters.len() - 1
                }) as u32)
            }
            _ => return None,
        };
        inner.next().is_none().then_some(type_)
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::library::overloads;

    #[test]
    fn every_signature_can_be_read() {
        for overload in overloads() {
            assert!(read(overload).is_some(), "{}: {}", overload.id, overload.signature);
        }
    }
}
