import type { Logger } from "../../base/log.ts";
import { printProgress, toJson } from "../output.ts";

/** The daemon's log, as lines beside the result. */
export const PROGRESS: Logger = {
  debug: () => undefined,
  info: (fields, message) => printProgress(`${message} ${toJson(fields, 0)}`),
  warn: (fields, message) => printProgress(`warning: ${message} ${toJson(fields, 0)}`),
  error: (fields, message) => printProgress(`error: ${message} ${toJson(fields, 0)}`),
};
