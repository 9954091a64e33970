//! Expressions that select devices: their environment, and the value of `device` (`k8s.io/dynamic-resource-allocation/cel`).

use crdx_cel::decl::{DeclField, DeclType, Shape};
use crdx_cel::env::{BaseEnv, Env, Objects};
use crdx_cel::syntax::Macro;
use crdx_cel::types::Type;
use crdx_cel::value::{Map, MapKey, Opaque, Quantity, Semver, Value as Cel};
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::release::{Gate, Release};
use std::collections::BTreeMap;
use std::sync::Arc;

const DEVICE: &str = "kubernetes.DRADevice";
/// `CELSelectorExpressionMaxCost`
pub const MAX_COST: u64 = 1_000_000;

/// The maximum size of the value at a path below `device` (`EstimateSize`).
pub fn size_at(path: &[&str]) -> Option<u64> {
    const PER_DEVICE: u64 = 32;
    const DOMAIN: u64 = 63;
    const ID: u64 = 32;
    const ATTRIBUTE: u64 = 64;
    const DRIVER: u64 = 63;
    let ["device", path @ ..] = path else { return None };
    Some(match path {
        [] | ["capacity", "@items" | "@values", "@items" | "@values"] => 0,
        ["driver"] => DRIVER,
        ["allowMultipleAllocations"] => 1,
        ["attributes" | "capacity"] | ["attributes" | "capacity", "@items" | "@values"] => PER_DEVICE,
        ["attributes" | "capacity", "@keys"] => DOMAIN,
        ["attributes" | "capacity", "@items" | "@values", "@keys"] => ID,
        // The name of an attribute, or its index.
        ["attributes", "@items" | "@values", _] => ATTRIBUTE,
        _ => return None,
    })
}

/// The environment with the variable `device`.
pub fn environment(release: Release) -> Env {
    let attributes = Type::map(Type::String, Type::map(Type::String, Type::Any));
    let quantity = Type::Object("kubernetes.Quantity".into());
    let capacity = Type::map(Type::String, Type::map(Type::String, quantity));
    let mut fields = vec![("driver", Type::String), ("attributes", attributes), ("capacity", capacity)];
    if release.enables(Gate::DRAConsumableCapacity) {
        fields.push(("allowMultipleAllocations", Type::Bool));
    }
    let fields = fields.into_iter().map(|(name, type_)| {
        let field = DeclField { json_name: name.to_owned(), required: true, type_: Arc::new(scalar(type_)) };
        (name.to_owned(), field)
    });
    let device = Type::Object(DEVICE.into());
    let declared = DeclType { shape: Shape::Object(fields.collect()), ..scalar(device.clone()) };
    let mut objects = Objects::new();
    objects.insert(DEVICE.into(), Arc::new(declared));
    let mut environment = Env::new(BaseEnv::for_new(release)).with_variable("device", device).with_macro(Macro::Bind);
    environment.objects = Arc::new(objects);
    environment
}

/// The sizes are not set, because only the types are used.
fn scalar(cel_type: Type) -> DeclType {
    DeclType::scalar(cel_type, 0, 0)
}

/// The reason why a device has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A version is not a semantic version.
    #[error("attribute {name}: parse semantic version: {reason}")]
    Version {
        /// The attribute.
        name: String,
        reason: GoError,
    },
    /// An attribute has none of the types of attributes.
    #[error("attribute {0}: unsupported attribute value")]
    Attribute(String),
    /// A capacity is not a quantity.
    #[error("capacity {name}: {reason}")]
    Capacity {
        /// The capacity.
        name: String,
        reason: GoError,
    },
}

/// The value of `device` for a device of a `ResourceSlice` and the slice's driver (`DeviceMatches`).
///
/// # Errors
/// Returns an error for an attribute or a capacity that is not valid.
pub fn value<'a>(driver: &'a str, device: &'a Value, release: Release) -> Result<Cel<'a>, DeviceError> {
    let mut attributes = Domains::default();
    for (name, attribute) in members(device, "attributes") {
        add(&mut attributes, driver, name, attribute_value(name, attribute)?);
    }
    let mut capacity = Domains::default();
    for (name, amount) in members(device, "capacity") {
        let text = amount.get("value").unwrap_or(amount);
        let text = text.as_str().map_or_else(|| text.as_int().unwrap_or_default().to_string(), str::to_owned);
        let amount = Quantity::parse(&text, release.minor())
            .map_err(|reason| DeviceError::Capacity { name: name.to_owned(), reason })?;
        add(&mut capacity, driver, name, Cel::Opaque(Arc::new(Opaque::Quantity { amount, computed: false })));
    }
    let allows = device.get("allowMultipleAllocations").and_then(Value::as_bool).unwrap_or_default();
    let by_domain = |domains: Domains<'a>| {
        let domains = domains.into_iter().map(|(domain, all)| (key(domain), Cel::Map(Map::Shared(Arc::new(all)))));
        Cel::Map(Map::Defaulted(Arc::new(domains.collect())))
    };
    let fields = [
        ("driver", Cel::string(driver)),
        ("allowMultipleAllocations", Cel::Bool(allows)),
        ("attributes", by_domain(attributes)),
        ("capacity", by_domain(capacity)),
    ];
    Ok(Cel::Map(Map::Shared(Arc::new(fields.into_iter().map(|(name, value)| (key(name), value)).collect()))))
}

/// Values by domain and name.
type Domains<'a> = BTreeMap<&'a str, BTreeMap<MapKey<'a>, Cel<'a>>>;

fn key(name: &str) -> MapKey<'_> {
    MapKey::String(name.into())
}

/// Adds the value of a qualified name; the domain of a name without one is the driver (`parseQualifiedName`).
fn add<'a>(domains: &mut Domains<'a>, driver: &'a str, name: &'a str, value: Cel<'a>) {
    let (domain, id) = name.split_once('/').unwrap_or((driver, name));
    domains.entry(domain).or_default().insert(key(id), value);
}

/// The members of a map of a device; before `v1beta2`, they are in `basic`.
fn members<'a>(device: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let all = device.get(name).or_else(|| device.at(&["basic", name])).and_then(Value::as_object);
    all.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// `getAttributeValue`
fn attribute_value<'a>(name: &str, attribute: &'a Value) -> Result<Cel<'a>, DeviceError> {
    let version = |text: &Value| {
        let parsed = Semver::parse(text.as_str().unwrap_or_default());
        let parsed = parsed.map_err(|reason| DeviceError::Version { name: name.to_owned(), reason })?;
        Ok(Cel::Opaque(Arc::new(Opaque::Semver(parsed))))
    };
    let get = |key: &str| attribute.get(key).filter(|value| !value.is_null());
    if let Some(list) = ["ints", "bools", "strings"].into_iter().find_map(get) {
        return Ok(Cel::untyped(list));
    }
    if let Some(Value::Array(versions)) = get("versions") {
        return Ok(Cel::list(versions.iter().map(version).collect::<Result<_, _>>()?));
    }
    if let Some(value) = ["int", "bool", "string"].into_iter().find_map(get) {
        return Ok(Cel::untyped(value));
    }
    get("version").map_or_else(|| Err(DeviceError::Attribute(name.to_owned())), version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_cel::eval::{PER_CALL_LIMIT, Program};
    use crdx_value::steps::Steps;

    fn evaluate(source: &str) -> String {
        let device = r#"{"name":"d0","attributes":{"model":{"string":"a"},"size":{"int":4},"x.example.com/on":{"bool":true},
            "driverVersion":{"version":"1.2.3"},"links":{"strings":["a","b"]}},"capacity":{"memory":{"value":"2Gi"}}}"#;
        let device = crdx_text::json::read(device.as_bytes()).unwrap();
        let env = environment(Release::NEWEST);
        let checked = env.compile(source).map_err(|issues| issues.display()).unwrap();
        let program = Program::plan(&checked, &env).unwrap();
        let value = value("gpu.example.com", &device, Release::NEWEST).unwrap();
        let outcome = program.run(&[Ok(value)], PER_CALL_LIMIT, &Steps::of_request());
        outcome.result.map_or_else(|error| error.to_string(), |value| value.to_string())
    }

    #[test]
    fn attributes_without_a_domain_are_those_of_the_driver() {
        for source in [
            "device.driver == 'gpu.example.com'",
            "device.attributes['gpu.example.com'].model == 'a'",
            "device.attributes['x.example.com'].on && device.attributes['gpu.example.com'].size > 3",
            "device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) > 0",
            "device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.0.0'))",
            "'b' in device.attributes['gpu.example.com'].links",
            "!device.allowMultipleAllocations",
        ] {
            assert_eq!(evaluate(source), "true", "{source}");
        }
    }

    #[test]
    fn a_domain_without_attributes_is_an_empty_map() {
        assert_eq!(evaluate("has(device.attributes['y.example.com'].on)"), "false");
        assert_eq!(evaluate("device.attributes['y.example.com'].on"), "no such key: on");
        assert_eq!(evaluate("'y.example.com' in device.attributes || device.attributes.size() != 2"), "false");
    }

    #[test]
    fn a_wrong_version_is_an_error() {
        let device = crdx_text::json::read(br#"{"attributes":{"v":{"version":"1"}}}"#).unwrap();
        let error = value("a", &device, Release::NEWEST).unwrap_err().to_string();
        assert!(error.starts_with("attribute v: parse semantic version: "), "{error}");
        let none = crdx_text::json::read(br#"{"attributes":{"v":{}}}"#).unwrap();
        assert_eq!(
            value("a", &none, Release::NEWEST).unwrap_err().to_string(),
            "attribute v: unsupported attribute value"
        );
    }
}
