import { fileURLToPath } from "node:url";
import type { SchemaPart } from "../journal/database.ts";

/** The tables of the followed events. */
export const EVENTS_SCHEMA: SchemaPart = {
  name: "events",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};

/** The tables of the followed events of Promises. */
export const PROMISE_EVENTS_SCHEMA: SchemaPart = {
  name: "promise-events",
  folder: fileURLToPath(new URL("promises", import.meta.url)),
};
