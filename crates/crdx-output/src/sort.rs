//! `--sort-by`: sorts objects by a field as kubectl does (`kubectl/pkg/cmd/get/sorter.go`).
//!
//! Note kubectl's behaviour: two texts that are both quantities (`100m`, `1Gi`) are compared as quantities; objects
//! without the field come first, in reverse order; at least one object must have the field.

use crdx_cel::value::Quantity;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::go_sort;
use crdx_value::jsonpath::{self, Item, JsonPath};
use crdx_value::release::Release;
use std::cell::RefCell;
use std::cmp::Ordering;

/// The order of objects by a field. Only the field's value of each object is stored.
pub struct Sorter {
    field: String,
    path: JsonPath,
    keys: Vec<Option<SortKey>>,
}

impl Sorter {
    /// Sorts by the field at `path`, which has the form `.a.b`, `a.b` or `{.a.b}`.
    ///
    /// # Errors
    /// Returns kubectl's message if `path` is not a JSONPath expression.
    pub fn new(path: &str) -> Result<Self, GoError> {
        let field = jsonpath::relaxed(path)?;
        let path = JsonPath::parse(&field)?.allow_missing_keys(true);
        Ok(Self { field, path, keys: Vec::new() })
    }

    /// Adds the next object.
    ///
    /// # Errors
    /// Returns kubectl's message if the path cannot be evaluated.
    pub fn add(&mut self, object: &Value) -> Result<(), GoError> {
        let found = self.path.find(object)?;
        self.keys.push(found.first().and_then(|items| items.first()).map(key));
        Ok(())
    }

    /// Returns the indices of the objects in kubectl's order, including its order of equal objects.
    ///
    /// # Errors
    /// Returns kubectl's message if the objects have no order.
    pub fn order(self) -> Result<Vec<usize>, GoError> {
        let Self { field, keys, .. } = self;
        if !keys.is_empty() && keys.iter().all(Option::is_none) {
            let field = crdx_value::quote::go_quote(&field);
            return Err(format!("couldn't find any field with path {field} in the list of objects").into());
        }
        let failed = RefCell::new(None);
        let order = go_sort::sort(keys.len(), &|a, b| match (keys.get(a), keys.get(b)) {
            (Some(Some(a)), Some(Some(b))) if failed.borrow().is_none() => {
                less(a, b).map_err(|error| failed.replace(Some(error))).unwrap_or_default()
            }
            (Some(a), _) => a.is_none(),
            _ => false,
        });
        match failed.into_inner() {
            None => Ok(order),
            Some(error) => Err(format!(
                "Field {field} in *unstructured.Unstructured is an unsortable type: interface, err: {error}"
            )
            .into()),
        }
    }
}

/// Sorts `objects` by the field at `path`, as [`Sorter`] does.
///
/// # Errors
/// Returns the errors of [`Sorter`].
pub fn sort(objects: &mut Vec<Value>, path: &str) -> Result<(), GoError> {
    let mut sorter = Sorter::new(path)?;
    objects.iter().try_for_each(|object| sorter.add(object))?;
    let order = sorter.order()?;
    let mut taken: Vec<Option<Value>> = std::mem::take(objects).into_iter().map(Some).collect();
    objects.extend(order.into_iter().filter_map(|i| taken.get_mut(i)?.take()));
    Ok(())
}

enum SortKey {
    Nothing,
    Int(i64),
    Byte(u8),
    Float(f64),
    /// A text, and the quantity that kubectl reads in it. The comparison is the same for all releases.
    Text(String, Option<Quantity>),
    /// Go's name for the type of a value that has no order.
    Other(&'static str),
}

fn key(item: &Item<'_>) -> SortKey {
    match item {
        Item::Missing | Item::Value(Value::Null) => SortKey::Nothing,
        Item::Value(Value::Int(i)) | Item::Int(i) => SortKey::Int(*i),
        Item::Byte(byte) => SortKey::Byte(*byte),
        Item::Value(Value::Float(x)) => SortKey::Float(*x),
        Item::Value(Value::String(text)) => {
            SortKey::Text(text.clone(), Quantity::parse(text, Release::NEWEST.minor()).ok())
        }
        Item::Value(Value::Bool(_)) => SortKey::Other("bool"),
        Item::Value(Value::Array(_)) => SortKey::Other("[]interface {}"),
        Item::Value(Value::Object(_)) => SortKey::Other("map[string]interface {}"),
    }
}

/// `isLess`: values of different types have no order.
fn less(a: &SortKey, b: &SortKey) -> Result<bool, GoError> {
    match (a, b) {
        (SortKey::Nothing, b) => Ok(!matches!(b, SortKey::Nothing)),
        (_, SortKey::Nothing) => Ok(false),
        (SortKey::Int(a), SortKey::Int(b)) => Ok(a < b),
        (SortKey::Byte(a), SortKey::Byte(b)) => Ok(a < b),
        (SortKey::Float(a), SortKey::Float(b)) => Ok(a < b),
        (SortKey::Text(_, Some(a)), SortKey::Text(_, Some(b))) => Ok(a.compare(b) == Ordering::Less),
        (SortKey::Text(a, _), SortKey::Text(b, _)) => Ok(a < b),
        (SortKey::Other(kind), _) => Err(format!("unsortable type: {kind}").into()),
        _ => Err("unsortable interface: interface".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    fn sorted(values: &[Option<Value>], path: &str) -> Result<String, GoError> {
        let one = |(i, value): (usize, &Option<Value>)| {
            let spec = value.clone().map(|v| object([("x", v)]));
            object([("i", Value::Int(i as i64)), ("spec", spec.unwrap_or(Value::Null))])
        };
        let mut objects: Vec<Value> = values.iter().enumerate().map(one).collect();
        sort(&mut objects, path)?;
        Ok(objects.iter().filter_map(|o| o.get("i")?.as_int()).map(|i| i.to_string()).collect())
    }

    #[test]
    fn fields_are_compared_as_kubectl_compares_them() {
        let texts = |texts: &[&str]| texts.iter().map(|t| Some(Value::from(*t))).collect::<Vec<_>>();
        assert_eq!(sorted(&texts(&["b", "a", "c"]), ".spec.x").as_deref(), Ok("102"));
        assert_eq!(sorted(&texts(&["1Gi", "100m", "5M"]), "{.spec.x}").as_deref(), Ok("120"));
        assert_eq!(sorted(&[Some(Value::Int(10)), Some(Value::Int(9))], "spec.x").as_deref(), Ok("10"));
        assert_eq!(sorted(&[Some(Value::Int(1)), None, None], ".spec.x").as_deref(), Ok("210"));
    }

    #[test]
    fn values_without_an_order_are_reported() {
        assert_eq!(
            sorted(&[None, None], ".spec.x").unwrap_err(),
            "couldn't find any field with path \"{.spec.x}\" in the list of objects".into()
        );
        // A single object needs no order.
        let (yes, one) = (Some(Value::Bool(true)), Some(Value::Int(1)));
        assert_eq!(sorted(&[yes.clone(), None], ".spec.x").as_deref(), Ok("10"));
        for (values, reason) in [
            ([yes.clone(), yes.clone()], "unsortable type: bool"),
            ([one.clone(), yes], "unsortable type: bool"),
            ([one, Some(Value::from("1"))], "unsortable interface: interface"),
        ] {
            let message = sorted(&values, ".spec.x").unwrap_err();
            assert_eq!(
                message,
                format!(
                    "Field {{.spec.x}} in *unstructured.Unstructured is an unsortable type: interface, err: {reason}"
                )
                .into()
            );
        }
        assert!(
            sorted(&[None, None], "{.spec").unwrap_err().as_str().starts_with("unexpected path string, expected a")
        );
    }
}
