/** A host of files that knows nothing else: what is under a folder, below a path. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

export interface FileServer {
  /** of the folder, with a slash at its end */
  readonly url: string;
  stop(): Promise<void>;
}

/** @param at path of the folder, such as /some/place/ */
export async function serveFiles(folder: string, at: string): Promise<FileServer> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://files");
    const name = normalize(decodeURIComponent(pathname.slice(at.length)) || "index.html");
    const isBelow = pathname.startsWith(at) && !name.startsWith("..");
    const content = isBelow ? await readFile(join(folder, name)).catch(() => undefined) : undefined;
    if (content === undefined) response.writeHead(404).end("There is no such file.");
    else {
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type }).end(content);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${at}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
