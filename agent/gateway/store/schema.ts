/** The gateway's tables. */
import { fileURLToPath } from "node:url";
import type { SchemaPart } from "../../../protocol/service/journal/database.ts";

export const GATEWAY_SCHEMA: SchemaPart = {
  name: "gateway",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};
