// Bundles the extension into dist, with the licences of what is in it.
import { copyFile, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

process.chdir(import.meta.dirname);
await rm("dist", { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  bundle: true,
  outfile: "dist/extension.js",
  external: ["vscode"],
  platform: "node",
  format: "cjs",
  target: "node20",
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

const folders = Object.keys(metafile.inputs).map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
const texts = [];
for (const folder of [...new Set(folders)].filter((folder) => folder !== undefined).sort()) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
  if (file === undefined) throw new Error(`${folder} comes without the text of its licence`);
  texts.push(`${name} ${version}: ${license}\n\n${(await readFile(path.join(folder, file), "utf8")).trim()}\n`);
}
if (texts.length === 0) throw new Error("nothing is bundled: the list of licences would be empty");
await writeFile("dist/THIRD-PARTY", `The extension has these in it.\n\n${texts.join(`\n${"-".repeat(80)}\n`)}`);
for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) await copyFile(`../../${file}`, `dist/${file}`);
