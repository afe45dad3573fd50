// Bundles the page: `node bundle.mjs WASM_PACKAGE OUT`. The package is what wasm-bindgen wrote.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

const [wasmPackage, out] = process.argv.slice(2).map((given) => path.resolve(given));
if (!wasmPackage || !out) throw new Error("usage: node bundle.mjs WASM_PACKAGE OUT");
process.chdir(import.meta.dirname);

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  alias: { roundonce: path.join(wasmPackage, "roundonce_wasm.js") },
  logLevel: "warning",
};
await build({
  ...shared,
  entryPoints: [
    { in: "src/page.ts", out: "page" },
    { in: "src/worker.ts", out: "worker" },
    { in: "src/page.css", out: "page" },
  ],
  outdir: out,
});
for (const file of ["index.html", "icon.svg", "page.webmanifest"]) await copyFile(file, path.join(out, file));
await copyFile(path.join(wasmPackage, "roundonce_wasm_bg.wasm"), path.join(out, "roundonce.wasm"));

// The service worker keeps these files of this version, and no others.
const files = (await readdir(out)).sort();
const digest = createHash("sha256");
for (const file of files) digest.update(await readFile(path.join(out, file)));
await build({
  ...shared,
  format: "iife",
  entryPoints: ["src/offline.ts"],
  outfile: path.join(out, "offline.js"),
  define: { FILES: JSON.stringify(["./", ...files]), VERSION: JSON.stringify(digest.digest("hex").slice(0, 16)) },
});
