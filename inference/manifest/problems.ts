import { codeUnitEscape } from "../../base/escapes.ts";
import type { MetadataAdvice, MetadataRule } from "./metadata-rules.ts";

/** One broken rule of a manifest. */
export interface ManifestProblem<Rule = MetadataRule | MetadataAdvice> {
  /** `$.abi[0].inputs[1].type` */
  readonly path: string;
  readonly message: string;
  readonly rule: Rule;
}

export interface ManifestReport {
  readonly errors: readonly ManifestProblem<MetadataRule>[];
  /** Broken conventions: valid, but better otherwise. */
  readonly warnings: readonly ManifestProblem<MetadataAdvice>[];
}

/** Collects problems while a JSON value is walked. */
export class Checker {
  readonly errors: ManifestProblem<MetadataRule>[] = [];
  readonly warnings: ManifestProblem<MetadataAdvice>[] = [];

  error(path: string, message: string, rule: MetadataRule = "form"): void {
    this.errors.push({ path, message, rule });
  }

  warn(path: string, message: string, rule: MetadataAdvice): void {
    this.warnings.push({ path, message, rule });
  }

  /** A JSON object, or undefined after a report. */
  object(value: unknown, path: string): Record<string, unknown> | undefined {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    this.otherKind(value, path, "an object");
    return undefined;
  }

  array(value: unknown, path: string): unknown[] | undefined {
    if (Array.isArray(value)) return value;
    this.otherKind(value, path, "an array");
    return undefined;
  }

  /** A text that is not blank. */
  text(value: unknown, path: string): string | undefined {
    if (typeof value !== "string") this.otherKind(value, path, "a string");
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

  private otherKind(value: unknown, path: string, wanted: string): void {
    this.error(path, `must be ${wanted}, is ${kind(value)}`, value === undefined ? "required" : "form");
  }
}

export function kind(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** A value of a file that somebody else wrote, as a message may show it: short, and without characters that a
 *  terminal obeys or that turn the reading direction. */
export function quoted(value: unknown): string {
  if (typeof value !== "string") return typeof value === "number" ? `${value}` : kind(value);
  const text = JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  return text.replace(/[\u007f-\u009f]|\p{Bidi_Control}/gu, codeUnitEscape);
}
