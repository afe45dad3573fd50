// A module against the documents' rules, with squiggles under what is wrong.

import { code, h, prose, type Child } from "./dom";
import { remarks, type Answer, type Page, type Params, type View } from "./view";
import type { Reply } from "./engine";

interface Finding {
  line: number;
  column: number;
  level: "error" | "warning" | "note";
  code: string;
  message: string;
  help: string;
  rule: string;
  witness?: { inputs: Value[]; results: { choice: string; bits: string; value: string }[] };
}

interface Value {
  name: string;
  bits: string;
  value: string;
}

const PTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry kernel(.param .u64 out, .param .f32 a, .param .f32 b)
{
    .reg .f32 %f<6>;
    .reg .u64 %rd<2>;
    ld.param.u64 %rd0, [out];
    ld.param.f32 %f0, [a];
    ld.param.f32 %f1, [b];
    mad.f32 %f2, %f0, %f1, %f1;
    fma.rn.rz.f32 %f3, %f0, %f1, %f2;
    mul.f32 %f4, %f0, %f1;
    add.f32 %f5, %f4, %f3;
    st.global.f32 [%rd0], %f5;
    ret;
}
`;

const SPIRV = `               OpCapability Shader
               OpCapability FMAKHR
               OpExtension "SPV_KHR_fma"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 1 1 1
       %void = OpTypeVoid
      %float = OpTypeFloat 32
        %int = OpTypeInt 32 1
         %fn = OpTypeFunction %void
      %tenth = OpConstant %float 0.1
        %two = OpConstant %int 2
       %main = OpFunction %void None %fn
      %entry = OpLabel
          %p = OpFMul %float %tenth %tenth
          %f = OpFmaKHR %float %p %tenth %two
               OpReturn
               OpFunctionEnd
`;

/** The text once more, below the letters that are typed, with its faults underlined. */
function underline(text: string, findings: Finding[], spans: [number, number][]): Child[] {
  const marks = findings
    .map(({ level, message }, at) => ({ level, message, span: spans[at] ?? [0, 0] }))
    .filter(({ span: [start, end] }) => end > start)
    .sort((a, b) => a.span[0] - b.span[0]);
  const parts: Child[] = [];
  let at = 0;
  for (const { level, span } of marks) {
    const [start, end] = [Math.max(span[0], at), span[1]];
    if (end <= start) continue;
    parts.push(text.slice(at, start), h("mark", { class: level }, text.slice(start, end)));
    at = end;
  }
  return [...parts, text.slice(at), "\n"];
}

/** Where the underlines go. */
function backdrop(): HTMLElement {
  const field = document.getElementById("field-text");
  const found = document.querySelector<HTMLElement>(".backdrop");
  if (found || !(field instanceof HTMLTextAreaElement)) return found ?? h("pre");
  const made = h("pre", { class: "backdrop", "aria-hidden": "true" });
  field.before(made);
  field.parentElement?.classList.add("squiggled");
  field.addEventListener("scroll", () => made.scrollTo(field.scrollLeft, field.scrollTop));
  return made;
}

function value(it: Value): string {
  return `${it.name} = ${it.bits} (${it.value})`;
}

function finding(it: Finding, span: [number, number]): HTMLElement {
  const jump = () => {
    const field = document.getElementById("field-text");
    if (!(field instanceof HTMLTextAreaElement)) return;
    field.focus();
    field.setSelectionRange(span[0], span[1]);
  };
  const witness = it.witness
    ? h("p", { class: "hint" }, `with ${it.witness.inputs.map(value).join(", ")}: `, it.witness.results.map((result) => `${result.choice} ${result.bits} (${result.value})`).join(", "))
    : undefined;
  return h(
    "li",
    { class: it.level },
    h("p", {}, h("button", { type: "button", class: "place", click: jump }, `${it.line}:${it.column}`), " ", h("span", { class: "level" }, it.level), " ", code(it.code)),
    h("p", {}, ...prose(it.message)),
    it.help ? h("p", { class: "hint" }, ...prose(it.help)) : undefined,
    witness,
    it.rule ? h("p", { class: "rule" }, it.rule) : undefined,
  );
}

/** A module's language by its first words. */
export function fileOf(text: string): string {
  return /^\s*(;|%\w+\s*=\s*Op|Op[A-Z])/m.test(text) && !/^\s*\.version/m.test(text) ? "module.spvasm" : "module.ptx";
}

async function answer({ text = "", d = "" }: Params, page: Page): Promise<Answer> {
  const file = fileOf(text);
  if (text.trim() === "") {
    backdrop().replaceChildren();
    return { summary: "", content: [h("p", { class: "hint" }, "Paste a module of PTX, or SPIR-V as spirv-dis writes it.")] };
  }
  const reply: Reply = await page.engine.ask("check", { file, text, determinacy: d === "1" });
  const findings = reply.json.map((line) => JSON.parse(line) as Finding);
  const spans = reply.spans ?? [];
  backdrop().replaceChildren(...underline(text, findings, spans).filter((part): part is Node | string => part !== undefined && !Array.isArray(part)));
  const summary = (reply.lines[0]?.[0]?.[1] ?? reply.error).replace(/^[^:]*: /, "");
  return {
    summary,
    content: [
      h("p", { class: "meaning" }, `${file.endsWith("ptx") ? "PTX" : "SPIR-V"}: ${summary}`),
      ...(reply.error ? remarks(reply) : []),
      findings.length > 0 ? h("ol", { class: "findings" }, ...findings.map((it, at) => finding(it, spans[at] ?? [0, 0]))) : undefined,
    ],
  };
}

export const check: View = {
  id: "check",
  title: "What is wrong in a module",
  lead: "Validated against the documents' rules; with determinacy, every place where the bits are left open.",
  fields: [
    { name: "text", label: "Module, PTX or SPIR-V text", kind: "text", value: PTX },
    { name: "d", label: "Show what leaves the bits open", kind: "flag", value: "" },
  ],
  examples: [
    ["PTX", {}],
    ["what is left open", { d: "1" }],
    ["SPIR-V", { text: SPIRV }],
  ],
  command: ({ text = "", d = "" }) => `roundonce check ${fileOf(text)}${d === "1" ? " --determinacy" : ""}`,
  answer,
};
