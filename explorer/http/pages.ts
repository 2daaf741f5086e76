/** The pages, as `npm run build` made them: hashed files that never change, and one document for every address. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import express, { type RequestHandler, Router } from "express";

/** Where the bundle is, in this tree and in the package. */
export const PAGES_FOLDER = fileURLToPath(new URL("../../build/explorer", import.meta.url));
const DOCUMENT = "index.html";

/** Everything comes from this service. WebAssembly: the canonical executor's fast form. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const hasPages = (folder: string): boolean => existsSync(join(folder, DOCUMENT));

/** @param isPage whether a path is none of the interface's */
export function pages(folder: string, isPage: (path: string) => boolean): RequestHandler {
  const router = Router();
  router.use((_request, response, next) => {
    response.setHeader("Content-Security-Policy", POLICY);
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    next();
  });
  // Names under assets/ hold a hash of their content.
  router.use(
    "/assets",
    express.static(join(folder, "assets"), { index: false, immutable: true, maxAge: "1y" }),
  );
  router.use(express.static(folder, { index: false, maxAge: 0 }));
  router.get("/*path", sendDocument(folder, isPage));
  router.get("/", sendDocument(folder, isPage));
  return router;
}

function sendDocument(folder: string, isPage: (path: string) => boolean): RequestHandler {
  return (request, response, next) => {
    if (!isPage(request.path)) return next();
    response.sendFile(DOCUMENT, { root: folder, headers: { "Cache-Control": "no-cache" } });
  };
}
