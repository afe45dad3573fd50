// Elements in one expression.

export type Child = Node | string | undefined | Child[];

type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

/** An element; attributes that are functions are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== false) element.setAttribute(key, String(value));
  }
  append(element, children);
  return element;
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== undefined) element.append(child);
  }
}

/** A piece of text in the letters of code. */
export function code(text: string): HTMLElement {
  return h("code", {}, text);
}

/** Running text of the engine, whose code stands between backquotes. */
export function prose(text: string): Child[] {
  return text.split("`").map((piece, at) => (at % 2 === 1 ? code(piece) : piece));
}

/** A cell of a table: sentences are wrapped, but not into columns of single words. */
function cell(content: Child): HTMLElement {
  return h("td", { class: typeof content === "string" && content.length > 20 ? "sentence" : undefined }, content);
}

/** A table; the first cell of a row is its heading. */
export function table(caption: string, head: string[], rows: Child[][]): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...head.map((text) => (text === "" ? h("td") : h("th", { scope: "col" }, text))))),
      h(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          h("tr", {}, h("th", { scope: "row" }, first), ...rest.map(cell)),
        ),
      ),
    ),
  );
}
