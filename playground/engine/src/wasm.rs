//! The functions that JavaScript calls.

use wasm_bindgen::prelude::wasm_bindgen;

/// An engine, for one worker.
#[wasm_bindgen(js_name = Engine)]
#[derive(Debug, Default)]
pub struct WasmEngine(crate::Engine);

#[wasm_bindgen(js_class = Engine)]
impl WasmEngine {
    /// Creates an engine.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers one request; see [`crate::Engine::answer`].
    pub fn answer(&mut self, request: &str) -> String {
        self.0.answer(request)
    }
}
