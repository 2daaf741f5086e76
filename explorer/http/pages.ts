/** Where the explorer's pages are, and what they may do. */
import { fileURLToPath } from "node:url";

/** Where the bundle is, in this tree and in the package. */
export const PAGES_FOLDER = fileURLToPath(new URL("../../build/explorer", import.meta.url));

/** Everything comes from where the pages are, and what is asked goes there alone. WebAssembly: the canonical executor's
 *  fast form. */
const SOURCES = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
];

/** Of the header that comes with every page. */
export const POLICY = [...SOURCES, "connect-src 'self'", "frame-ancestors 'none'"].join("; ");

/** Of a page that says it itself, where no header can. @param nodes origins that it asks, too */
export const ownPolicy = (nodes: readonly string[]): string =>
  [...SOURCES, `connect-src ${["'self'", ...nodes].join(" ")}`].join("; ");
