// Serves a folder as a static host would.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { createGzip } from "node:zlib";

const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
  ".wasm": "application/wasm", ".webmanifest": "application/manifest+json",
};

/** Starts a server; its address, and how to end it. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? "/", "http://localhost").pathname;
    const file = path.join(folder, path.normalize(name.endsWith("/") ? `${name}index.html` : name));
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream", "content-encoding": "gzip" });
    createReadStream(file).pipe(createGzip()).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
