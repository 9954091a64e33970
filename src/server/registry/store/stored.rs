//! A stored object: a tree while it is in use, and its compressed JSON when it was not written for a while, which takes about
//! a thirtieth of the memory and has to be read before it is used.

use crate::text::json;
use crate::value::{Value, json::to_string};
use lz4_flex::block;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// LZ4 looks back no further than 64 KiB, and the dictionary is indexed for each object.
const LARGEST_DICTIONARY: usize = 16 << 10;

/// A stored object.
#[derive(Debug)]
pub(in crate::server) struct Stored {
    /// Its resourceVersion.
    pub revision: u64,
    form: Mutex<Form>,
}

#[derive(Debug)]
enum Form {
    Tree {
        raw: Arc<Value>,
        /// What reading it gave under a tag.
        read: Option<(u64, Arc<Value>)>,
    },
    Packed {
        /// The JSON in LZ4's block format, after its length.
        packed: Box<[u8]>,
        dictionary: Arc<[u8]>,
    },
}

impl Stored {
    /// An object in its storage version, with its resourceVersion.
    pub fn new(raw: Value, revision: u64) -> Self {
        Self { revision, form: Mutex::new(Form::Tree { raw: Arc::new(raw), read: None }) }
    }

    fn form(&self) -> MutexGuard<'_, Form> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object in its storage version, with its resourceVersion.
    pub fn raw(&self) -> Arc<Value> {
        match &*self.form() {
            Form::Tree { raw, .. } => Arc::clone(raw),
            // It was written by `pack`, so it can be read.
            Form::Packed { packed, dictionary } => {
                let text = block::decompress_size_prepended_with_dict(packed, dictionary).unwrap_or_default();
                Arc::new(json::read(&text).unwrap_or_default())
            }
        }
    }

    /// The object as it was read before under `tag`: decoding a stored object again gives the same.
    pub fn remembered(&self, tag: u64) -> Option<Arc<Value>> {
        match &*self.form() {
            Form::Tree { read: Some((t, object)), .. } if *t == tag => Some(Arc::clone(object)),
            _ => None,
        }
    }

    /// Remembers what reading gave under `tag`.
    pub fn remember(&self, tag: u64, object: &Arc<Value>) {
        if let Form::Tree { read, .. } = &mut *self.form() {
            *read = Some((tag, Arc::clone(object)));
        }
    }

    /// Roughly its memory; `of_tree` tells that of a tree.
    pub fn weight(&self, of_tree: impl FnOnce(&Value) -> usize) -> usize {
        match &*self.form() {
            Form::Tree { raw, .. } => of_tree(raw),
            Form::Packed { packed, .. } => packed.len(),
        }
    }

    /// Keeps it as compressed JSON from now on. The first object that is packed becomes the `dictionary` of the others: the
    /// objects of one resource have most of their text in common.
    pub fn pack(&self, dictionary: &OnceLock<Arc<[u8]>>) {
        let text = to_string(&self.raw());
        let text = text.as_bytes();
        let dictionary = dictionary.get_or_init(|| text.get(..LARGEST_DICTIONARY).unwrap_or(text).into());
        let packed = block::compress_prepend_size_with_dict(text, dictionary);
        // A copy has the exact size; the vector has room for the worst case.
        let packed = packed.as_slice().into();
        *self.form() = Form::Packed { packed, dictionary: Arc::clone(dictionary) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_object_is_the_same() {
        let object = json::read(br#"{"a":[1,2.5,1e30,null,"\u0000\ud83e\ude81"],"b":{"":{}}}"#).unwrap();
        let stored = Stored::new(object.clone(), 3);
        stored.remember(1, &stored.raw());
        assert!(stored.remembered(1).is_some() && stored.remembered(2).is_none());
        stored.pack(&OnceLock::new());
        assert_eq!(*stored.raw(), object);
        assert_eq!(stored.remembered(1), None);
    }

    #[test]
    fn a_packed_object_is_smaller_than_its_json() {
        let dictionary = OnceLock::new();
        for number in 0..3 {
            let fields: Vec<String> = (0..500).map(|n| format!(r#""k{n}":{{"value":{number}}}"#)).collect();
            let text = format!("{{{}}}", fields.join(","));
            let object = json::read(text.as_bytes()).unwrap();
            let stored = Stored::new(object.clone(), 3);
            stored.pack(&dictionary);
            assert_eq!(*stored.raw(), object);
            assert!(stored.weight(|_| usize::MAX) * 2 < text.len());
        }
    }
}
