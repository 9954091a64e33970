// Runs the engine.
import init, { Engine } from "#engine";

const ready = (async () => {
  await init({ module_or_path: fetch(new URL("engine.wasm", import.meta.url)) });
  return new Engine();
})();

self.onmessage = async ({ data: request }) => {
  const engine = await ready;
  const start = performance.now();
  try {
    const answer = JSON.parse(engine.answer(JSON.stringify(request)));
    self.postMessage({ answer: { ...answer, milliseconds: performance.now() - start } });
  } catch (error) {
    // Texts that nest very deeply exhaust the stack or the memory of a page. The engine cannot be used afterwards.
    const message = `Cannot tell: the texts need more stack or memory than a page has (${error.message}).`;
    const answer = { error: message, verdict: "cannotTell", message, problems: [], warnings: [], notes: [], rules: [], milliseconds: 0 };
    self.postMessage({ answer, isBroken: true });
  }
};
