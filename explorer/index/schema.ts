import { fileURLToPath } from "node:url";
import type { SchemaPart } from "../../protocol/service/journal/database.ts";

/** The tables of an explorer's index. */
export const EXPLORER_SCHEMA: SchemaPart = {
  name: "explorer",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};
