// The table of forms.

import { code, h, prose, table } from "./dom";
import { address, quoted, type Answer, type Page, type Params, type View } from "./view";

interface Form {
  language: string;
  syntax: string;
  operands: string;
  gate: string;
  source: string;
  note: string;
  spellings: string[];
}

async function answer({ q = "" }: Params, page: Page): Promise<Answer> {
  const reply = await page.engine.ask("forms", { pattern: q });
  const rows = reply.json.map((line) => JSON.parse(line) as Form);
  const count = rows.reduce((sum, row) => sum + row.spellings.length, 0);
  const summary = rows.length === 0 ? reply.error : `${rows.length} forms, ${count} spellings`;
  const row = (form: Form) => {
    const [first] = form.spellings;
    // Of what is scalar: any number, for each operand but the result.
    const scalar = /^(fma|add|sub|mul|mad|FFMA|FADD|FMUL|DFMA|OpFmaKHR)(?!.*(x2|v[234]))/.test(form.syntax);
    const question = scalar ? form.operands.split(",").slice(1).map((_, at) => String(at + 3)).join(" ") : "";
    const spellings = form.spellings.map((spelling) => h("li", {}, code(spelling)));
    return [
      h("span", {}, form.language),
      h("span", {}, code(form.syntax), form.note ? h("p", { class: "hint" }, ...prose(form.note)) : undefined,
        h("details", {}, h("summary", {}, `${form.spellings.length} spellings`), h("ul", { class: "spellings" }, ...spellings))),
      h("code", { class: "wrap" }, form.operands),
      h("span", {}, ...prose(form.gate)),
      form.source,
      first && question ? h("a", { href: address("explain", { i: first, o: question }), "aria-label": `Explain ${first}` }, "explain") : "",
    ];
  };
  return {
    summary,
    content: [
      h("p", { class: "meaning" }, summary),
      rows.length > 0 ? table("Forms", ["language", "syntax", "operands", "where", "source", ""], rows.map(row)) : undefined,
    ],
  };
}

export const forms: View = {
  id: "forms",
  title: "Every instruction form",
  lead: "What it is called, who has it, and where that is written.",
  fields: [{ name: "q", label: "Search", kind: "line", value: "", hint: "syntax, spelling, language or target: fma, SASS, .bf16, sm_100" }],
  examples: [
    ["fma", { q: "fma" }],
    ["SPIR-V", { q: "spir-v" }],
    ["FFMA", { q: "ffma" }],
    ["e4m3", { q: "e4m3" }],
    ["tensor cores", { q: "mma" }],
    ["sm_100", { q: "sm_100" }],
  ],
  command: ({ q = "" }) => (q ? `roundonce forms ${quoted(q)}` : "roundonce forms"),
  answer,
};
