//! The documents of a file.

use super::references::Reference;
use crate::content::{self, NoObject};
use crdx_engine::documents::{ChunkObjects, Document, SourceChunk, is_definition};
use crdx_files::open::read_small;
use crdx_text::documents::Chunks;
use crdx_types::groups::is_built_in;
use crdx_value::{Value, group_version};
use std::collections::BTreeMap;
use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;

/// The largest file that is read, in bytes.
pub const LARGEST: u64 = 16 << 20;

/// A group and a kind.
pub type GroupKind = (String, String);

/// What a file has.
#[derive(Debug, Default)]
pub struct Contents {
    /// The number of objects that are not CRDs.
    pub objects: usize,
    /// The CRDs.
    pub definitions: Vec<Definition>,
    /// The kinds of custom resources, with the number of objects.
    pub kinds: BTreeMap<GroupKind, usize>,
    /// Objects that refer to directories, with their lines.
    pub references: Vec<(usize, Reference)>,
    pub is_template: bool,
    /// True if it is encrypted, or has objects with encrypted fields.
    pub is_encrypted: bool,
}

/// A CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    /// The kind that it defines.
    pub defines: GroupKind,
}

impl Contents {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is too large.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = read_small(path, LARGEST)?;
        let mut contents = Self::default();
        if content::is_encrypted_file(&text) {
            contents.is_encrypted = true;
            return Ok(contents);
        }
        let source: Arc<str> = path.display().to_string().into();
        for chunk in Chunks::new(Cursor::new(text)).map_while(Result::ok) {
            let read = chunk.read();
            if content::is_template(&source, &chunk, read.is_err()) {
                contents.is_template = true;
                return Ok(contents);
            }
            // What cannot be read may be an object, and is reported when it is validated.
            let Ok(read) = read else {
                let may_be_object = ["apiVersion", "kind"].iter().all(|key| crdx_text::contains(&chunk.text, key));
                contents.objects += usize::from(may_be_object);
                continue;
            };
            match content::no_object(&source, &read.value) {
                Some(NoObject::Encrypted) => contents.is_encrypted = true,
                Some(_) => {}
                None => contents.add_all(SourceChunk::new(&source, chunk, false, None), read.value),
            }
        }
        Ok(contents)
    }

    fn add_all(&mut self, chunk: SourceChunk, value: Value) {
        match chunk.unfold(value, false) {
            ChunkObjects::Nothing => {}
            ChunkObjects::Object(document) => self.add(&document),
            ChunkObjects::List(items) => items.for_each(|document| self.add(&document)),
        }
    }

    fn add(&mut self, document: &Document) {
        let object = &document.value;
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        self.is_encrypted |= !document.encrypted.is_empty() || text(&["kind"]) == "SealedSecret";
        if is_definition(object) {
            if !content::is_definition_patch(object) {
                let defines = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
                self.definitions.push(Definition { name: text(&["metadata", "name"]), defines });
            }
            return;
        }
        self.objects += 1;
        let group = group_version::group(object.str_at(&["apiVersion"]).unwrap_or_default());
        if !is_built_in(group) {
            *self.kinds.entry((group.to_owned(), text(&["kind"]))).or_default() += 1;
        }
        self.references.extend(Reference::of(object).map(|reference| (document.position().line, reference)));
    }
}
