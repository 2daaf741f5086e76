/** The chat page, as `npm run build` made it, under a policy that runs no other script. */
import { fileURLToPath } from "node:url";
import { type RequestHandler, Router } from "express";
import { BaseError } from "../../../base/errors.ts";
import { hasPages, pages } from "../../../protocol/service/http/pages.ts";

/** Where the bundle is, in this tree and in the package. */
export const PAGE_FOLDER = fileURLToPath(new URL("../../../build/chat", import.meta.url));

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Without a bundle the page's address says so. */
export function pageRoutes(folder: string): RequestHandler {
  if (hasPages(folder)) return pages({ folder, policy: POLICY, isPage: (path) => path === "/" });
  const router = Router();
  router.get("/", () => {
    throw pageNotBuilt(folder);
  });
  return router;
}

export const pageNotBuilt = (folder: string): BaseError =>
  new BaseError({
    code: "PAGE_NOT_BUILT",
    shortMessage: `There is no chat page in ${folder}.`,
    nextStep:
      "Make it with `npm run build` and start the gateway again; the interface at /v1 is there without it.",
  });
