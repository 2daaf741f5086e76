/** What the protocol's long-running parts need of a logger; pino's has this shape. Keys never go through it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
