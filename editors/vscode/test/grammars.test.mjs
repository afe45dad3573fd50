// The grammars on real texts, judged by the language server, whose tokens come from the parsers: where the server says what
// a word is, the grammar's scope must say the same. `node test/grammars.test.mjs ROUNDONCE`
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");
const protocol = require("vscode-languageserver-protocol/node");

const here = import.meta.dirname;
const root = path.join(here, "../../..");
const command = path.resolve(process.argv[2] ?? path.join(root, "target/debug/roundonce"));

// What a grammar may call what the server calls so. A name's kind (a variable in memory, a parameter, a label that is jumped
// to) is known only by its declaration: no grammar is asked for it.
const SCOPES = {
  comment: ["comment"],
  macro: ["keyword.control.directive", "storage.type", "entity.name"],
  keyword: ["keyword.operator.opcode"],
  modifier: ["storage.modifier", "storage.type", "variable.language"],
  type: ["storage.type", "variable.other.id", "entity.name.type"],
  function: ["entity.name.function", "variable.other.id"],
  label: ["entity.name.label", "variable.other.id"],
  enumMember: ["constant.language"],
  number: ["constant.numeric"],
  string: ["string"],
  variable: ["variable"],
  parameter: ["variable"],
};
const NAME = /^[A-Za-z_$.][\w$.]*$/;

const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    const file = path.join(here, `../syntaxes/${scope.slice("source.".length)}.tmLanguage.json`);
    return textmate.parseRawGrammar(await readFile(file, "utf8"), file);
  },
});

const server = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = protocol.createProtocolConnection(
  new protocol.StreamMessageReader(server.stdout),
  new protocol.StreamMessageWriter(server.stdin),
);
connection.listen();
const initialized = await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
await connection.sendNotification("initialized", {});
const { tokenTypes } = initialized.capabilities.semanticTokensProvider.legend;

/** The server's tokens of a text. */
async function semanticTokens(file, languageId, text) {
  const uri = pathToFileURL(file).href;
  await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId, version: 1, text } });
  const { data } = await connection.sendRequest("textDocument/semanticTokens/full", { textDocument: { uri } });
  await connection.sendNotification("textDocument/didClose", { textDocument: { uri } });
  const tokens = [];
  let line = 0;
  let start = 0;
  for (let at = 0; at < data.length; at += 5) {
    start = data[at] > 0 ? data[at + 1] : start + data[at + 1];
    line += data[at];
    tokens.push({ line, start, end: start + data[at + 2], type: tokenTypes[data[at + 3]] });
  }
  return tokens;
}

/** The scopes of each line of a text. */
function scopes(grammar, lines) {
  let state = textmate.INITIAL;
  return lines.map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens;
  });
}

const counts = {};
const failures = [];
async function compare(languageId, file) {
  const text = await readFile(file, "utf8");
  const lines = text.split(/\r?\n/);
  const grammar = await registry.loadGrammar(`source.${languageId}`);
  const scoped = scopes(grammar, lines);
  for (const token of await semanticTokens(file, languageId, text)) {
    const word = lines[token.line].slice(token.start, token.end);
    const covers = ({ startIndex, endIndex }) => startIndex <= token.start && token.start < endIndex;
    const found = scoped[token.line].find(covers);
    const names = found.scopes.slice(1).join(" ");
    const isDeclaredName = ["variable", "parameter", "function", "label"].includes(token.type) && NAME.test(word);
    const allowed = SCOPES[token.type];
    const agrees = isDeclaredName || allowed.some((scope) => found.scopes.some((name) => name.startsWith(scope)));
    const key = `${languageId} ${token.type}`;
    counts[key] ??= { agree: 0, names: 0 };
    if (isDeclaredName) counts[key].names += 1;
    else if (agrees) counts[key].agree += 1;
    else {
      const place = `${path.relative(root, file)}:${token.line + 1}`;
      failures.push(`${place}: ${token.type} \`${word}\` is ${names || "nothing"}`);
    }
  }
}

async function files(folder, extension) {
  const entries = await readdir(path.join(root, folder));
  return entries.filter((name) => name.endsWith(extension)).sort().map((name) => path.join(root, folder, name));
}
for (const file of await files("tests/kernels", ".ptx")) await compare("ptx", file);
for (const file of await files("tests/shaders", ".spvasm")) await compare("spirv", file);
for (const file of await files("tests/kernels/maxwell", ".sass")) await compare("sass", file);
for (const file of ["check", "maxwell", "run-sass", "sass", "sass-modern"]) {
  for (const listing of await files(`tests/cli/${file}.in`, ".sass")) await compare("sass", listing);
}
await connection.sendRequest("shutdown");
await connection.sendNotification("exit");
connection.end();

for (const [key, { agree, names }] of Object.entries(counts)) {
  console.log(`${key.padEnd(18)} ${String(agree).padStart(6)} agree${names ? `, ${names} names are not asked for` : ""}`);
}
assert.deepEqual(failures.slice(0, 40), [], `${failures.length} words differ`);
assert.ok(Object.values(counts).reduce((sum, { agree }) => sum + agree, 0) > 50_000, "too few words were compared");
