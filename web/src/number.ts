// Numbers as their bits, coloured by field.

import { h, type Child } from "./dom";

/** The exponent's bits of each type that has a sign, an exponent and a significand. */
const EXPONENTS: Record<string, number> = {
  f16: 5, bf16: 8, f32: 8, f64: 11, e4m3: 4, e5m2: 5, e2m3: 2, e3m2: 3, e2m1: 2,
};
const WIDTHS: Record<string, number> = { f16: 16, bf16: 16, f32: 32, f64: 64, e4m3: 8, e5m2: 8, e2m3: 6, e3m2: 6, e2m1: 4 };

export type Field = "sign" | "exponent" | "significand";

/** The field of a bit, counted from the most significant. */
export function fieldOf(type: string, place: number): Field {
  if (place === 0) return "sign";
  return place <= (EXPONENTS[type] ?? 0) ? "exponent" : "significand";
}

/** Hex bits as binary digits, as many as the type has. */
export function binary(type: string, hex: string): string {
  const width = WIDTHS[type] ?? 4 * (hex.length - 2);
  return BigInt(hex).toString(2).padStart(width, "0");
}

export function hexOf(digits: string): string {
  return "0x" + BigInt("0b" + digits).toString(16).padStart(Math.ceil(digits.length / 4), "0");
}

/** All bits on a line, small. */
export function strip(type: string, digits: string): HTMLElement {
  const exponent = EXPONENTS[type] ?? 0;
  const part = (field: Field, text: string) => h("span", { class: field }, text);
  return h(
    "span",
    { class: "strip" },
    part("sign", digits.slice(0, 1)),
    part("exponent", digits.slice(1, 1 + exponent)),
    part("significand", digits.slice(1 + exponent)),
  );
}

/** What a bit means to a reader. */
function meaning(type: string, digits: string, place: number): string {
  const name = `bit ${digits.length - 1 - place}`;
  const field = fieldOf(type, place);
  if (field === "sign") return `${name}, sign: ${digits[0] === "1" ? "negative" : "positive"}`;
  const exponent = EXPONENTS[type] ?? 0;
  if (field === "exponent") return `${name}, exponent, counts ${2 ** (exponent - place)}`;
  return `${name}, significand, counts 2^-${place - exponent}`;
}

/** All bits as large cells. With `flip`, each is a switch: arrow keys move, the space bar flips. */
export function cells(type: string, digits: string, flip?: (digits: string) => void): HTMLElement {
  const exponent = EXPONENTS[type] ?? 0;
  const last = digits.length - 1;
  const ends = new Set([0, 1, exponent, exponent + 1, last]);
  const cell = (digit: string, place: number) => {
    const content = h("span", { class: "digit" }, digit);
    const label = meaning(type, digits, place);
    const kind = `cell ${fieldOf(type, place)}`;
    const index = ends.has(place) ? String(last - place) : "\u00a0";
    if (!flip) return h("span", { class: kind, title: label, "data-index": index }, content);
    return h(
      "button",
      {
        type: "button",
        class: kind,
        title: label,
        "aria-label": `${digit}, ${label}`,
        "data-index": index,
        "aria-pressed": digit === "1" ? "true" : "false",
        tabindex: place === 0 ? 0 : -1,
        click: () => flip(digits.slice(0, place) + (digit === "1" ? "0" : "1") + digits.slice(place + 1)),
      },
      content,
    );
  };
  const all = [...digits].map(cell);
  const columns = digits.length > 32 ? 32 : digits.length;
  const element = h(
    "div",
    flip
      ? { class: `cells of-${columns}`, role: "group", "aria-label": `the ${digits.length} bits of ${type}, arrow keys move` }
      : { class: `cells of-${columns}`, role: "img", "aria-label": `bits ${digits}` },
    ...all,
  );
  element.addEventListener("keydown", (event) => {
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -at, End: last - at }[event.key];
    const next = step === undefined || at < 0 ? undefined : all[at + step];
    if (!next) return;
    event.preventDefault();
    all[at]?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return element;
}

/** The type that a result of so many hex digits has. */
export function typeOf(spelling: string, hex: string): string | undefined {
  const digits = hex.length - 2;
  if (digits === 4) return spelling.includes("bf16") ? "bf16" : "f16";
  return { 8: "f32", 16: "f64" }[digits];
}

/** The fields of a number in words and colours. */
export function fields(type: string, digits: string): HTMLElement {
  const width = EXPONENTS[type] ?? 0;
  const stored = digits.slice(1, 1 + width);
  const fraction = digits.slice(1 + width);
  const bias = 2 ** (width - 1) - 1;
  const biased = Number.parseInt(stored, 2);
  const isSmall = biased === 0;
  const isLast = !stored.includes("0") && type !== "e4m3" && type !== "e2m3" && type !== "e3m2" && type !== "e2m1";
  const power = isSmall ? 1 - bias : biased - bias;
  const scale = [" 2", h("sup", {}, String(power).replace("-", "−"))];
  const entry = (field: Field, raw: string, ...text: Child[]) =>
    h("div", { class: field }, h("dt", {}, field), h("dd", {}, h("span", { class: "raw" }, raw), h("span", {}, ...text)));
  return h(
    "dl",
    { class: "fields" },
    entry("sign", digits[0] ?? "", digits[0] === "1" ? "negative" : "positive"),
    entry("exponent", stored, ...(isLast ? ["all ones: infinity or NaN"] : [isSmall ? "all zeros: subnormal," : `${biased} − ${bias}:`, scale])),
    entry("significand", `${isSmall ? 0 : 1}.${fraction}`, isLast ? "zero for infinity" : `${fraction.length} bits after the point`),
  );
}
