// Computes the answers, off the page's thread: a long one can be ended.

import init, * as verbs from "roundonce";
import type { Verb } from "./engine";

interface Question {
  id: number;
  verb: Verb;
  request: string;
}

const ready = init({ module_or_path: "roundonce.wasm" });

self.addEventListener("message", async (event: MessageEvent<Question>) => {
  const { id, verb, request } = event.data;
  try {
    await ready;
    self.postMessage({ id, reply: verbs[verb](request) });
  } catch (error) {
    self.postMessage({ id, problem: String(error) });
  }
});
