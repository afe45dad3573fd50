// Serves a folder as a static host would.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
  ".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".txt": "text/plain; charset=utf-8",
};

/** Starts a server; its address, and how to end it. Files are compressed once, as a host does. */
export async function serve(folder) {
  const kept = new Map();
  const compressed = (file) => {
    if (!kept.has(file)) kept.set(file, gzipSync(readFileSync(file)));
    return kept.get(file);
  };
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? "/", "http://localhost").pathname;
    const file = path.join(folder, path.normalize(name.endsWith("/") ? `${name}index.html` : name));
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream", "content-encoding": "gzip" });
    response.end(compressed(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
