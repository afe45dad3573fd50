// What every view is made of: a form whose state stands in the address, and an answer below it.

import { h, prose, type Child } from "./dom";
import { Superseded, type Engine, type Piece, type Reply } from "./engine";

export type Params = Record<string, string>;

export interface FieldSpec {
  name: string;
  label: string;
  kind: "line" | "text" | "choice" | "flag";
  value: string;
  options?: string[];
  /** Of the form's columns, how many it takes: 12 are a whole row. */
  span?: number;
  hint?: string;
}

export interface Answer {
  /** For who hears the page. */
  summary: string;
  content: Child[];
}

export interface View {
  id: string;
  title: string;
  lead: string;
  fields: FieldSpec[];
  /** Links to questions worth asking. */
  examples: [label: string, params: Params][];
  /** The same question to the command; nothing where there is none. */
  command(params: Params): string;
  answer(params: Params, page: Page): Promise<Answer>;
  /** Called once the form stands. */
  prepare?(form: HTMLFormElement, page: Page): void;
}

export interface Page {
  engine: Engine;
  /** Asks another question in the same view. */
  set(params: Params): void;
}

/** The address of a question. */
export function address(view: string, params: Params): string {
  return `#${view}?${new URLSearchParams(params)}`;
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_=./:,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The words of a line; a list in brackets is one. */
export function words(line: string): string[] {
  const found: string[] = [];
  let word = "";
  let depth = 0;
  for (const letter of line) {
    if (letter === "[") depth += 1;
    if (letter === "]") depth -= 1;
    if (/\s/.test(letter) && depth <= 0) {
      if (word !== "") found.push(word);
      word = "";
    } else word += letter;
  }
  return word === "" ? found : [...found, word.trim()];
}

/** What an answer has beside: what was rounded on reading, why there is none. */
export function remarks(reply: Reply): Child[] {
  const notes = reply.notes.map((note) => h("li", {}, ...prose(note)));
  return [
    reply.error ? h("pre", { class: "problem" }, reply.error) : undefined,
    notes.length > 0 ? h("ul", { class: "notes" }, ...notes) : undefined,
  ];
}

/** Lines as the command prints them. */
export function pieces(lines: Piece[][], label: string): HTMLElement {
  const line = (line: Piece[]) => [...line.map(([role, text]) => h("span", { class: role }, text)), "\n"];
  return h("pre", { class: "printed", tabindex: 0, role: "group", "aria-label": label }, ...lines.map(line));
}

/** Milliseconds before the page says that it computes. */
const PATIENCE = 400;

/** A view on the page. */
export class Shown implements Page {
  readonly element: HTMLElement;
  private readonly form: HTMLFormElement;
  private readonly output = h("section", { class: "answer", "aria-label": "Answer" });
  private readonly command = h("code", {});
  private asked = 0;
  private timer: number | undefined;

  constructor(
    readonly view: View,
    readonly engine: Engine,
    private readonly changed: (params: Params) => void,
  ) {
    this.form = h(
      "form",
      { class: "question", autocomplete: "off", spellcheck: "false", submit: (event) => this.now(event) },
      ...view.fields.map((field) => this.field(field)),
    );
    this.form.addEventListener("input", () => this.soon());
    const example = ([label, params]: [string, Params]) => h("li", {}, h("a", { href: address(view.id, params) }, label));
    this.element = h(
      "div",
      { class: "view" },
      h("h1", {}, view.title),
      h("p", { class: "lead" }, view.lead),
      this.form,
      view.examples.length > 0
        ? h("div", { class: "examples" }, h("span", { id: "examples" }, "Try"), h("ul", { "aria-labelledby": "examples" }, ...view.examples.map(example)))
        : undefined,
      this.output,
      h("p", { class: "command" }, h("span", {}, "In a terminal"), this.command, this.copyButton()),
    );
    view.prepare?.(this.form, this);
  }

  private copyButton(): HTMLElement {
    const copy = async (event: Event) => {
      await navigator.clipboard.writeText(this.command.textContent ?? "");
      const button = event.currentTarget ?? event.target;
      if (!(button instanceof HTMLElement)) return;
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    };
    return h("button", { type: "button", class: "quiet", "aria-label": "Copy the command", click: (event) => void copy(event) }, "copy");
  }

  private field(field: FieldSpec): HTMLElement {
    const { name, kind, value } = field;
    const id = `field-${name}`;
    const control =
      kind === "text"
        ? h("textarea", { id, name, rows: 14, wrap: "off", autocapitalize: "off", spellcheck: "false" }, value)
        : kind === "choice"
          ? h("select", { id, name }, ...(field.options ?? []).map((option) => h("option", { value: option, selected: option === value }, option || "not given")))
          : kind === "flag"
            ? h("input", { id, name, type: "checkbox" })
            : h("input", { id, name, value, autocapitalize: "off", autocorrect: "off", spellcheck: "false" });
    if (field.hint) control.setAttribute("aria-describedby", `${id}-hint`);
    const label = h("label", { for: id }, field.label);
    const hint = field.hint ? h("span", { class: "hint", id: `${id}-hint` }, field.hint) : undefined;
    const parts = kind === "flag" ? [control, label, hint] : [label, control, hint];
    return h("div", { class: `field ${kind} span-${field.span ?? 12}` }, ...parts);
  }

  private control(name: string): HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | undefined {
    const found = this.form.elements.namedItem(name);
    return found instanceof HTMLInputElement || found instanceof HTMLSelectElement || found instanceof HTMLTextAreaElement ? found : undefined;
  }

  /** What the form says; what is as it was at first is left out. */
  private params(): Params {
    const params: Params = {};
    for (const { name, kind, value } of this.view.fields) {
      const control = this.control(name);
      const now = kind === "flag" ? (control instanceof HTMLInputElement && control.checked ? "1" : "") : (control?.value ?? "");
      if (now !== value) params[name] = now;
    }
    return params;
  }

  /** Shows a question and answers it. */
  show(params: Params): void {
    for (const { name, kind, value } of this.view.fields) {
      const control = this.control(name);
      const wanted = params[name] ?? value;
      if (kind === "flag" && control instanceof HTMLInputElement) control.checked = wanted === "1";
      else if (control && control.value !== wanted) control.value = wanted;
      if (control instanceof HTMLTextAreaElement) control.rows = Math.min(Math.max(wanted.split("\n").length, 8), 26);
    }
    void this.compute();
  }

  set(params: Params): void {
    this.show({ ...this.params(), ...params });
    this.changed(this.params());
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), 120);
  }

  private now(event?: Event): void {
    event?.preventDefault();
    clearTimeout(this.timer);
    this.changed(this.params());
    void this.compute();
  }

  private async compute(): Promise<void> {
    const asked = ++this.asked;
    const params: Params = Object.fromEntries(this.view.fields.map(({ name, value }) => [name, value]));
    Object.assign(params, this.params());
    const command = this.view.command(params);
    // A line ends between words, not behind the hyphens of an option.
    const words = command.split(/(?<= )/).map((word) => h("span", {}, word));
    this.command.replaceChildren(...words);
    this.command.parentElement?.toggleAttribute("hidden", command === "");
    // A long answer to an old question is in the way.
    if (this.engine.busy) this.engine.stop();
    const slow = setTimeout(() => this.wait(), PATIENCE);
    try {
      const { summary, content } = await this.view.answer(params, this);
      if (asked === this.asked) this.answered(summary, content);
    } catch (error) {
      if (asked === this.asked && !(error instanceof Superseded)) {
        const text = `This question could not be answered: ${error instanceof Error ? error.message : String(error)}`;
        this.answered(text, [h("p", { class: "problem" }, text)]);
      }
    } finally {
      clearTimeout(slow);
    }
  }

  private wait(): void {
    this.output.setAttribute("aria-busy", "true");
    const stop = () => {
      this.asked += 1;
      this.engine.stop();
      this.answered("Stopped.", [h("p", { class: "hint" }, "Stopped. Change the question to go on.")]);
    };
    this.output.prepend(h("p", { class: "waiting" }, "Computing… ", h("button", { type: "button", click: stop }, "Stop")));
  }

  private answered(summary: string, content: Child[]): void {
    // The focus stays on the bit that was flipped.
    const bit = document.activeElement?.classList.contains("cell") ? [...this.output.querySelectorAll("button.cell")].indexOf(document.activeElement) : -1;
    this.output.replaceChildren(h("div", {}, ...content));
    this.output.removeAttribute("aria-busy");
    const cell = this.output.querySelectorAll<HTMLButtonElement>("button.cell")[bit];
    if (cell) {
      this.output.querySelector("button.cell[tabindex='0']")?.setAttribute("tabindex", "-1");
      cell.setAttribute("tabindex", "0");
      cell.focus();
    }
    const status = document.getElementById("status");
    if (status) status.textContent = summary;
  }
}

