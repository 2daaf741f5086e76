/** The chat page: three files without a framework, under a policy that runs no other script. */
import { readFileSync } from "node:fs";
import { Router } from "express";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGES = [
  ["/", "chat.html", "text/html; charset=utf-8"],
  ["/chat.js", "chat.js", "text/javascript; charset=utf-8"],
  ["/chat.css", "chat.css", "text/css; charset=utf-8"],
] as const;

export function pageRoutes(): Router {
  const router = Router();
  for (const [path, file, type] of PAGES) {
    const content = readFileSync(new URL(`page/${file}`, import.meta.url));
    router.get(path, (_request, response) => {
      response.setHeader("Content-Security-Policy", POLICY);
      response.setHeader("Referrer-Policy", "no-referrer");
      response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
      response.type(type).send(content);
    });
  }
  return router;
}
