// The verbs, answered by a worker.

export type Verb = "bits" | "evaluate" | "explain" | "why" | "cases" | "diff" | "check" | "forms" | "run" | "why_kernel";

/** A piece of a line and what it is. */
export type Piece = [role: "plain" | "strong" | "label" | "kept" | "dropped" | "faint", text: string];

export interface Buffer {
  name: string;
  type: string;
  count: number;
  bits: string[];
  values: string[];
}

/** What every verb gives back; `json` has the lines that the command prints with `--format json`. */
export interface Reply {
  status: 0 | 1 | 2 | 3;
  json: string[];
  lines: Piece[][];
  notes: string[];
  error: string;
  pictures?: string[];
  spans?: [start: number, end: number][];
  buffers?: Buffer[];
}

/** The answer was not waited for: a newer question ended it. */
export class Superseded extends Error {}

interface Waiting {
  resolve: (reply: Reply) => void;
  reject: (reason: Error) => void;
}

export class Engine {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  /** Whether an answer is being computed. */
  get busy(): boolean {
    return this.waiting.size > 0;
  }

  ask(verb: Verb, request: object): Promise<Reply> {
    const worker = (this.worker ??= this.start());
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, verb, request: JSON.stringify(request) });
    });
  }

  /** Ends what is being computed. */
  stop(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.fail(new Superseded());
  }

  private fail(reason: Error): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) reject(reason);
  }

  private start(): Worker {
    const worker = new Worker("worker.js", { type: "module" });
    worker.addEventListener("message", (event: MessageEvent<{ id: number; reply?: string; problem?: string }>) => {
      const { id, reply, problem } = event.data;
      const waiting = this.waiting.get(id);
      this.waiting.delete(id);
      if (reply !== undefined) {
        waiting?.resolve(JSON.parse(reply) as Reply);
        return;
      }
      // After a fault the instance is not used again.
      waiting?.reject(new Error(problem));
      this.stop();
    });
    worker.addEventListener("error", (event) => {
      this.worker = undefined;
      this.fail(new Error(event.message || "the worker did not start"));
    });
    return worker;
  }
}
