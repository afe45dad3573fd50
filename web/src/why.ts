// Why two numbers differ.

import { code, h, prose, table, type Child } from "./dom";
import { address, pieces, quoted, remarks, words, type Answer, type Page, type Params, type View } from "./view";

interface Evaluation {
  sentence: string;
  bits: string;
  value: string;
  steps: { name: string; operation: string; bits: string; value: string; delivered?: string }[];
  code: Record<string, string>;
}

export type Outcome = "one" | "several" | "ambiguous" | "consistent" | "none";

interface Seen {
  saw: string;
  outcome: Outcome;
  nearby?: { explained: number; values: number };
  explanations: Evaluation[];
}

/** An element of an array. */
interface Example {
  index: number[];
  inputs: [name: string, value: string][];
  saw: string;
  as_written: string;
  evaluated?: Evaluation;
}

/** Elements that one evaluation explains. */
interface ArrayGroup {
  count: number;
  evidence: number;
  sentence: string;
  by?: string;
  alternatives: string[];
  less_plausible?: string;
  others_less_plausible?: string[];
  example: Example;
}

interface SeenArray {
  saw: string;
  outcome: Outcome;
  groups: ArrayGroup[];
  compared?: number;
  unexplained: number;
  first_unexplained?: Example;
}

interface Advice {
  about: string;
  toolchain: string;
  text: string;
  source: string;
}

interface Asked {
  expression: string;
  type: string;
  evaluations: number;
  literals?: string;
  untried?: string[];
  advice?: Advice[];
}

interface WhyValues extends Asked {
  seen: Seen[];
  cause?: string[];
}

interface WhyArrays extends Asked {
  elements: number;
  seen: SeenArray[];
}

type Why = WhyValues | WhyArrays;

interface Case {
  name: string;
  source: string;
  expression: string;
  cause: string;
  command: string;
}

const OUTCOME: Record<Outcome, string> = {
  one: "one evaluation gives it",
  several: "each part has an evaluation of its own",
  ambiguous: "several evaluations give it",
  consistent: "consistent with an evaluation: it may be an accident",
  none: "no evaluation gives it",
};

/** What was seen, and how many evaluations give it. */
export function heading(saw: string, outcome: Outcome, words: Record<Outcome, string>): HTMLElement {
  return h("h2", {}, "saw ", code(saw), " ", h("span", { class: outcome === "none" ? "lost" : "aside" }, words[outcome]));
}

/** What to do so that both sides agree, by toolchain. */
function options(advice: Advice[]): Child {
  if (advice.length === 0) return undefined;
  const row = (it: Advice) => [it.toolchain, it.about, code(it.text), it.source];
  return h("details", {}, h("summary", {}, "Which options decide it"), table("Options", ["toolchain", "about", "what to write", "source"], advice.map(row)));
}

function steps(it: Evaluation): Child[] {
  const step = (step: Evaluation["steps"][number]) => [
    code(step.name),
    code(step.operation),
    code(step.bits),
    code(step.value),
    h("span", { class: step.delivered === "exact" ? "faint" : "lost" }, step.delivered ?? ""),
  ];
  const source = it.code["cuda"] ?? it.code["ptx"];
  return [
    table("Its steps", ["", "operation", "bits", "value", ""], it.steps.map(step)),
    source ? h("p", { class: "hint" }, "to write it: ", code(source)) : undefined,
  ];
}

function evaluation(it: Evaluation): HTMLElement {
  return h("li", {}, h("p", {}, ...prose(it.sentence)), ...steps(it));
}

function seen(it: Seen): HTMLElement {
  const all = it.explanations.map(evaluation);
  const rest = all.slice(3);
  return h(
    "section",
    { class: "seen" },
    heading(it.saw, it.outcome, OUTCOME),
    h("ol", {}, ...all.slice(0, 3)),
    rest.length > 0 ? h("details", {}, h("summary", {}, `${rest.length} more`), h("ol", { start: 4 }, ...rest)) : undefined,
  );
}

/** An element: what was seen there, what the expression as written gives, its inputs. */
function element(it: Example): HTMLElement {
  const inputs = it.inputs.map(([name, value]) => [", ", code(`${name} = ${value}`)]);
  return h("p", { class: "hint" }, `at [${it.index.join(", ")}] `, code(it.saw), it.saw === it.as_written ? " as written" : [", as written ", code(it.as_written)], inputs);
}

/** Other evaluations behind a line that says how many. */
function others(summary: string, sentences: string[]): Child {
  if (sentences.length === 0) return undefined;
  return h("details", {}, h("summary", {}, `${sentences.length} ${summary}`), h("ul", {}, ...sentences.map((text) => h("li", {}, ...prose(text)))));
}

function seenArray(it: SeenArray, elements: number): HTMLElement {
  const of = it.compared ?? elements;
  const group = (group: ArrayGroup) =>
    h(
      "li",
      {},
      h("p", {}, ...prose(group.sentence), h("span", { class: "faint" }, `: ${group.count} of ${of} elements, ${group.evidence < 100 ? group.evidence.toFixed(1) : "more than 100"} bits of evidence`)),
      group.by ? h("p", { class: "hint" }, `who adds so: ${group.by}`) : undefined,
      element(group.example),
      ...(group.example.evaluated ? steps(group.example.evaluated) : []),
      others("more that explain the same", group.alternatives),
      others("less plausible, which explain the same", [...(group.less_plausible ? [group.less_plausible] : []), ...(group.others_less_plausible ?? [])]),
    );
  return h(
    "section",
    { class: "seen" },
    heading(it.saw, it.outcome, OUTCOME),
    h("ol", {}, ...it.groups.map(group)),
    it.unexplained > 0 ? h("p", { class: "lost" }, `${it.unexplained} of ${of} have no explanation`) : undefined,
    it.first_unexplained ? element(it.first_unexplained) : undefined,
  );
}

function params(command: string): Params {
  const [, e = "", rest = ""] = /^roundonce why '([^']*)' (.*)$/.exec(command) ?? [];
  const saw = [...rest.matchAll(/--saw (\S+)/g)].map((match) => match[1]);
  return { e, n: rest.replaceAll(/--saw \S+/g, "").trim(), s: saw.join(" ") };
}

/** The published cases, as links. */
async function published(page: Page): Promise<Child> {
  const reply = await page.engine.ask("cases", {});
  const one = (line: string) => {
    const it = JSON.parse(line) as Case;
    return [h("a", { href: address("why", params(it.command)) }, it.name), code(it.expression), it.cause, it.source];
  };
  return table("Published cases", ["case", "expression", "cause", "where"], reply.json.map(one));
}

async function answer({ e = "", n = "", s = "", as = "", re = "" }: Params, page: Page): Promise<Answer> {
  const request = { expression: e, inputs: words(n), saw: words(s), reassociate: re === "1", ...(as ? { as } : {}) };
  const reply = await page.engine.ask("why", request);
  const cases = await published(page);
  if (reply.json.length === 0) return { summary: reply.error, content: [...remarks(reply), cases] };
  const answers = reply.json.map((line) => JSON.parse(line) as Why);
  const sentences = answers.flatMap((it) => ("elements" in it ? [] : (it.cause ?? [])));
  const beside = answers.flatMap((it) => [...(it.literals ? [it.literals] : []), ...(it.untried ?? [])]);
  const first = answers[0];
  const count = first && "elements" in first ? `, ${first.elements} elements` : "";
  return {
    summary: sentences.length > 0 ? sentences.join(" ") : answers.flatMap((it) => it.seen.map((seen) => `${seen.saw}: ${OUTCOME[seen.outcome]}`)).join("; "),
    content: [
      h("p", { class: "meaning" }, code(first?.expression ?? e), ` in ${first?.type ?? ""}${count}, ${first?.evaluations ?? 0} evaluations compared`),
      sentences.length > 0 ? h("div", { class: "cause" }, ...sentences.map((sentence) => h("p", {}, ...prose(sentence)))) : undefined,
      beside.length > 0 ? h("ul", { class: "notes" }, ...beside.map((sentence) => h("li", {}, ...prose(sentence)))) : undefined,
      ...remarks(reply),
      ...answers.flatMap((it) => ("elements" in it ? it.seen.map((seen) => seenArray(seen, it.elements)) : it.seen.map(seen))),
      h("details", {}, h("summary", {}, "As the command prints it, with the place where they first differ"), pieces(reply.lines, "The answer")),
      options(first?.advice ?? []),
      cases,
    ],
  };
}

export const why: View = {
  id: "why",
  title: "Why two numbers differ",
  lead: "Every evaluation that a compiler or a machine may use is compared with what was seen: fused or not, other roundings, flushed, wider, reordered.",
  fields: [
    { name: "e", label: "Expression", kind: "line", value: "a*x+b*x", span: 6, hint: "+ - * ( ), fma(a,b,c), names, 1.5f" },
    { name: "n", label: "Values", kind: "line", value: "a=1e20f b=-1e20f x=1e10f", span: 6, hint: "name=value, blanks between; a type as in 0x3c00:f16; an array as in x=[1, 2.5]:f32" },
    { name: "s", label: "Seen", kind: "line", value: "4.993411122843311e+21 0", span: 6, hint: "values or arrays, blanks between" },
    { name: "as", label: "Types of literals as in", kind: "choice", value: "", options: ["", "c", "cuda", "numpy", "torch", "jax", "julia", "glsl", "wgsl"], span: 3 },
    { name: "re", label: "Sums in any order", kind: "flag", value: "", span: 3 },
  ],
  examples: [
    ["one value", {}],
    ["an array", { e: "a*x+y", n: "a=1.1f x=[1.3, 2.7, 3.1, 4.9]:f32 y=[-1.4, -3, -3.4, -5.4]:f32", s: "[0x3cf5c291, 0xbcf5c251, 0x3c23d683, 0xbc23d683]" }],
    ["a sum", { e: "sum(x)", n: "x=[1, 0x1p-24, 0x1p-24]:f32", s: "0x3f800001 0x3f800000" }],
  ],
  command: ({ e = "", n = "", s = "", as = "", re = "" }) =>
    [
      "roundonce why", quoted(e), ...words(n).map(quoted), ...words(s).map((saw) => `--saw ${quoted(saw)}`),
      ...(as ? ["--as", as] : []), ...(re === "1" ? ["--reassociate"] : []),
    ].join(" "),
  answer,
};
