//! CEL's types.

use std::sync::Arc;

/// A type. Type parameters only appear in signatures and while checking.
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
    /// `list(T)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<Type>, Arc<Type>),
    /// `optional_type(T)`
    Optional(Arc<Type>),
    /// `type(T)`
    Type(Arc<Type>),
    /// A type with a name and no structure CEL can see (`net.IP`, `kubernetes.Quantity`, `kubernetes.NamedFormat`, …).
    Opaque(Arc<str>),
    /// A declared object; its fields are in [`super::decl::DeclType`].
    Object(Arc<str>),
    /// A type parameter (`A`, `T`).
    Param(Arc<str>),
}
