/** One broken rule of a manifest. */
export interface ManifestProblem {
  /** `$.abi[0].inputs[1].type` */
  readonly path: string;
  readonly message: string;
}

export interface ManifestReport {
  readonly errors: readonly ManifestProblem[];
  /** Broken conventions: valid, but better otherwise. */
  readonly warnings: readonly ManifestProblem[];
}

/** Collects problems while a JSON value is walked. */
export class Checker {
  readonly errors: ManifestProblem[] = [];
  readonly warnings: ManifestProblem[] = [];

  error(path: string, message: string): void {
    this.errors.push({ path, message });
  }

  warn(path: string, message: string): void {
    this.warnings.push({ path, message });
  }

  /** A JSON object, or undefined after a report. */
  object(value: unknown, path: string): Record<string, unknown> | undefined {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    this.error(path, `must be an object, is ${kind(value)}`);
    return undefined;
  }

  array(value: unknown, path: string): unknown[] | undefined {
    if (Array.isArray(value)) return value;
    this.error(path, `must be an array, is ${kind(value)}`);
    return undefined;
  }

  /** A text that is not blank. */
  text(value: unknown, path: string): string | undefined {
    if (typeof value !== "string") this.error(path, `must be a string, is ${kind(value)}`);
    else if (value.trim() === "") this.error(path, "must not be empty");
    else return value;
    return undefined;
  }

  optional(
    object: Record<string, unknown>,
    key: string,
    check: (value: unknown, path: string) => void,
  ): void {
    if (object[key] !== undefined) check(object[key], `$.${key}`);
  }
}

export function kind(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
