//! CEL types.

use std::{fmt, sync::Arc};

/// A CEL type. Type parameters occur only in signatures, type variables only during checking.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `dyn`
    Dyn,
    /// The type of an expression that has an error.
    Error,
    /// `null_type`
    Null,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `double`
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Duration`
    Duration,
    /// `google.protobuf.Any`
    Any,
    /// `list(T)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<Type>, Arc<Type>),
    /// `optional_type(T)`
    Optional(Arc<Type>),
    /// `type(T)`
    Type(Arc<Type>),
    /// A wrapper type such as `google.protobuf.Int64Value`: a scalar or null.
    Wrapper(Arc<Type>),
    /// A named type without fields (`net.IP`, `net.CIDR`).
    Opaque(Arc<str>),
    /// An object type. It has fields only if the environment has its [`super::decl::DeclType`] (`kubernetes.URL` has
    /// none).
    Object(Arc<str>),
    /// A type parameter (`A`, `T`).
    Param(Arc<str>),
    /// A type variable that is not inferred yet.
    Var(u32),
}

impl Type {
    /// `list(item)`
    pub fn list(item: Self) -> Self {
        Self::List(Arc::new(item))
    }

    /// `map(key, value)`
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// `optional_type(of)`
    pub fn optional(of: Self) -> Self {
        Self::Optional(Arc::new(of))
    }

    /// `type(of)`
    pub fn type_of(of: Self) -> Self {
        Self::Type(Arc::new(of))
    }

    /// Returns true for types that are checked only at run time.
    pub fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    /// The type arguments.
    pub fn parameters(&self) -> [Option<&Self>; 2] {
        match self {
            Self::List(a) | Self::Optional(a) | Self::Type(a) => [Some(a), None],
            Self::Map(a, b) => [Some(a), Some(b)],
            _ => [None, None],
        }
    }

    /// The name in error messages (`timestamp`, `null`); `rename` maps the names of object types.
    pub fn in_messages(&self, rename: &dyn Fn(&str) -> String) -> String {
        let mut out = String::new();
        let _ = self.write(&mut out, &Names { short: true, rename });
        out
    }

    fn write(&self, out: &mut dyn fmt::Write, names: &Names) -> fmt::Result {
        out.write_str(match self {
            Self::Dyn => "dyn",
            Self::Error if names.short => "!error!",
            Self::Error => "error",
            Self::Null if names.short => "null",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp if names.short => "timestamp",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration if names.short => "duration",
            Self::Duration => "google.protobuf.Duration",
            Self::Any if names.short => "any",
            Self::Any => "google.protobuf.Any",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Wrapper(of) => {
                out.write_str("wrapper(")?;
                of.write(out, names)?;
                return out.write_char(')');
            }
            Self::Opaque(name) => name,
            Self::Object(name) => return out.write_str(&(names.rename)(name)),
            Self::Param(name) if names.short => name,
            Self::Param(name) => return write!(out, "<{name}>"),
            Self::Var(id) => return write!(out, "_var{id}"),
        })?;
        let [first, second] = self.parameters();
        if let Some(first) = first {
            out.write_char('(')?;
            first.write(out, names)?;
            if let Some(second) = second {
                out.write_str(", ")?;
                second.write(out, names)?;
            }
            out.write_char(')')?;
        }
        Ok(())
    }
}

/// Formats type names.
struct Names<'a> {
    /// True for the short names used in error messages.
    short: bool,
    rename: &'a dyn Fn(&str) -> String,
}

impl fmt::Display for Type {
    /// The declared name (`google.protobuf.Timestamp`, `null_type`, `<T>`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Names { short: false, rename: &str::to_owned })
    }
}
