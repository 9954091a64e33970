//! A stored object: a JSON tree or, if it was not written recently, compressed JSON, which takes about a thirtieth of
//! the memory and is parsed on each read.

use crdx_text::json;
use crdx_value::lock::lock;
use crdx_value::{Value, json::to_string};
use lz4_flex::block;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The maximum size of the dictionary in bytes. LZ4 refers back at most 64 KiB, and the dictionary is indexed for each
/// object.
const LARGEST_DICTIONARY: usize = 16 << 10;

/// A stored object.
#[derive(Debug)]
pub(in crate::server) struct StoredObject {
    /// The resourceVersion.
    pub revision: u64,
    form: Mutex<ObjectForm>,
}

#[derive(Debug)]
enum ObjectForm {
    Tree {
        raw: Arc<Value>,
        /// The cached result of decoding the object, and the tag of the compiled version that decoded it.
        read: Option<(u64, Arc<Value>)>,
    },
    Compressed {
        /// The length of the JSON, then the JSON in LZ4 block format.
        compressed: Box<[u8]>,
        dictionary: Arc<[u8]>,
    },
}

impl StoredObject {
    /// Creates an object from its storage version, which includes the resourceVersion.
    pub fn new(raw: Value, revision: u64) -> Self {
        Self { revision, form: Mutex::new(ObjectForm::Tree { raw: Arc::new(raw), read: None }) }
    }

    fn form(&self) -> MutexGuard<'_, ObjectForm> {
        lock(&self.form)
    }

    /// The object in its storage version.
    pub fn raw(&self) -> Arc<Value> {
        match &*self.form() {
            ObjectForm::Tree { raw, .. } => Arc::clone(raw),
            // Decompression cannot fail, because `compress` produced the bytes.
            ObjectForm::Compressed { compressed, dictionary } => {
                let text = block::decompress_size_prepended_with_dict(compressed, dictionary).unwrap_or_default();
                Arc::new(json::read(&text).unwrap_or_default())
            }
        }
    }

    /// The cached result of decoding the object with the compiled version `tag`.
    pub(crate) fn cached_read(&self, tag: u64) -> Option<Arc<Value>> {
        match &*self.form() {
            ObjectForm::Tree { read: Some((t, object)), .. } if *t == tag => Some(Arc::clone(object)),
            _ => None,
        }
    }

    /// Caches the result of decoding the object with the compiled version `tag`.
    pub(crate) fn cache_read(&self, tag: u64, object: &Arc<Value>) {
        if let ObjectForm::Tree { read, .. } = &mut *self.form() {
            *read = Some((tag, Arc::clone(object)));
        }
    }

    /// The approximate memory of the object in bytes; `of_tree` computes it for a tree.
    pub fn weight(&self, of_tree: impl FnOnce(&Value) -> usize) -> usize {
        match &*self.form() {
            ObjectForm::Tree { raw, .. } => of_tree(raw),
            ObjectForm::Compressed { compressed, .. } => compressed.len(),
        }
    }

    /// Compresses the object. The first object compressed becomes the `dictionary` of the others, because the objects
    /// of one resource share most of their text.
    pub fn compress(&self, dictionary: &OnceLock<Arc<[u8]>>) {
        let text = to_string(&self.raw());
        let text = text.as_bytes();
        let dictionary = dictionary.get_or_init(|| text.get(..LARGEST_DICTIONARY).unwrap_or(text).into());
        let compressed = block::compress_prepend_size_with_dict(text, dictionary);
        // Copying trims the allocation, which had room for the worst case.
        let compressed = compressed.as_slice().into();
        *self.form() = ObjectForm::Compressed { compressed, dictionary: Arc::clone(dictionary) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_object_is_the_same() {
        let object = json::read(br#"{"a":[1,2.5,1e30,null,"\u0000\ud83e\ude81"],"b":{"":{}}}"#).unwrap();
        let stored = StoredObject::new(object.clone(), 3);
        stored.cache_read(1, &stored.raw());
        assert!(stored.cached_read(1).is_some() && stored.cached_read(2).is_none());
        stored.compress(&OnceLock::new());
        assert_eq!(*stored.raw(), object);
        assert_eq!(stored.cached_read(1), None);
    }

    #[test]
    fn a_packed_object_is_smaller_than_its_json() {
        let dictionary = OnceLock::new();
        for number in 0..3 {
            let fields: Vec<String> = (0..500).map(|n| format!(r#""k{n}":{{"value":{number}}}"#)).collect();
            let text = format!("{{{}}}", fields.join(","));
            let object = json::read(text.as_bytes()).unwrap();
            let stored = StoredObject::new(object.clone(), 3);
            stored.compress(&dictionary);
            assert_eq!(*stored.raw(), object);
            assert!(stored.weight(|_| usize::MAX) * 2 < text.len());
        }
    }
}
