// One number, bit by bit.

import { code, h, table } from "./dom";
import { binary, cells, fields, hexOf, strip } from "./number";
import { quoted, remarks, type Answer, type Page, type Params, type View } from "./view";

interface InFormat {
  type: string;
  bits: string;
  sign: string;
  exponent: string;
  fraction: string;
  class: string;
  value: string;
  hexadecimal: string;
  exact: boolean;
}

interface Number {
  value: string;
  type: string;
  exact_decimal: string;
  formats: InFormat[];
}

/** How a number of a type is written by its bits: of f32 and f64 their digits say it. */
function spelled(type: string, digits: string): string {
  return type === "f32" || type === "f64" ? hexOf(digits) : `${hexOf(digits)}:${type}`;
}

async function answer({ v = "" }: Params, page: Page): Promise<Answer> {
  const reply = await page.engine.ask("bits", { value: v });
  const [line] = reply.json;
  if (line === undefined) return { summary: reply.error, content: remarks(reply) };
  const number = JSON.parse(line) as Number;
  const own = number.formats.find(({ type }) => type === number.type);
  if (!own) return { summary: "", content: remarks(reply) };
  const digits = binary(own.type, own.bits);
  const row = (it: InFormat) => [
    h("a", { href: `#bits?v=${encodeURIComponent(spelled(it.type, binary(it.type, it.bits)))}` }, it.type),
    code(it.bits),
    strip(it.type, binary(it.type, it.bits)),
    code(it.value),
    it.exact ? "exact" : h("span", { class: "lost" }, it.class === "infinity" || it.class === "zero" ? `lost: ${it.class}` : "rounded"),
  ];
  return {
    summary: `${own.type} ${own.bits}, ${own.value}, ${own.class}`,
    content: [
      h(
        "div",
        { class: "hero" },
        h("p", { class: "result" }, code(own.bits), h("span", { class: "value" }, own.value), h("span", { class: "aside" }, `${own.type}, ${own.class}`)),
        cells(own.type, digits, (flipped) => page.set({ v: spelled(own.type, flipped) })),
        fields(own.type, digits),
      ),
      ...remarks(reply),
      h("dl", { class: "facts" },
        h("dt", {}, "exactly"), h("dd", {}, code(number.exact_decimal)),
        h("dt", {}, "hexadecimal"), h("dd", {}, code(own.hexadecimal))),
      table("In every format, to nearest even", ["type", "bits", "sign, exponent, significand", "value", ""], number.formats.map(row)),
    ],
  };
}

export const bits: View = {
  id: "bits",
  title: "One number, bit by bit",
  lead: "Type a number with its type, or flip a bit.",
  fields: [{ name: "v", label: "Number", kind: "line", value: "0.1f", hint: "1e20f is f32, 2.0 is f64, 1.5h f16, 1.5b bf16; 0x3f800000, 0x3c00:f16, 448:e4m3" }],
  examples: [
    ["0.1f", { v: "0.1f" }],
    ["2^-149", { v: "0x00000001" }],
    ["65504h", { v: "65504h" }],
    ["1e20b", { v: "1e20b" }],
    ["448:e4m3", { v: "448:e4m3" }],
    ["a NaN", { v: "0x7fc00000" }],
    ["π", { v: "3.141592653589793" }],
  ],
  command: ({ v = "" }) => `roundonce bits ${quoted(v)}`,
  answer,
};
