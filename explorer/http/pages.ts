/** Where the explorer's pages are, and what they may do. */
import { fileURLToPath } from "node:url";

/** Where the bundle is, in this tree and in the package. */
export const PAGES_FOLDER = fileURLToPath(new URL("../../build/explorer", import.meta.url));

/** Everything comes from this service. WebAssembly: the canonical executor's fast form. */
export const POLICY = [
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
