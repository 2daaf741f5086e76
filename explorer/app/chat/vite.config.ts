import { join } from "node:path";
import { pagesConfig } from "../vite.config.ts";

export default pagesConfig(import.meta.dirname, join(import.meta.dirname, "../../../build/chat"));
