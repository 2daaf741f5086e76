/** Pages, as `npm run build` made them: hashed files that never change, and one document for every address. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import express, { type RequestHandler, Router } from "express";
import { compressed } from "./compressed.ts";

const DOCUMENT = "index.html";

export interface Pages {
  /** of the bundle */
  readonly folder: string;
  /** Content-Security-Policy */
  readonly policy: string;
  /** whether a path is none of the interface's */
  readonly isPage: (path: string) => boolean;
}

export const hasPages = (folder: string): boolean => existsSync(join(folder, DOCUMENT));

export function pages({ folder, policy, isPage }: Pages): RequestHandler {
  const router = Router();
  router.use((_request, response, next) => {
    response.setHeader("Content-Security-Policy", policy);
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    next();
  });
  router.use(compressed());
  // Names under assets/ hold a hash of their content.
  router.use(
    "/assets",
    express.static(join(folder, "assets"), { index: false, immutable: true, maxAge: "1y" }),
  );
  router.use(express.static(folder, { index: false, maxAge: 0 }));
  const sendDocument: RequestHandler = (request, response, next) => {
    if (!isPage(request.path)) return next();
    response.sendFile(DOCUMENT, { root: folder, headers: { "Cache-Control": "no-cache" } });
  };
  router.get("/*path", sendDocument);
  router.get("/", sendDocument);
  return router;
}
