import { parse } from "csv-parse/sync";
import { BaseError } from "../../../base/errors.ts";

/** Rows of an RFC 4180 csv file by column name. */
export function csvRows(text: string): Record<string, string>[] {
  return parse(text, { columns: true, bom: true, relax_column_count: true, skip_empty_lines: true });
}

/** A decimal number times `scale` (a power of ten), rounded half away from zero. */
export function scaledDecimal(text: string | undefined, scale: number): number {
  const match = /^([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?$/.exec(text?.trim() ?? "");
  const digits = `${match?.[2] ?? ""}${match?.[3] ?? ""}`;
  if (match === null || digits === "") {
    throw new BaseError({
      code: "DATA_MISMATCH",
      shortMessage: `${JSON.stringify(text)} in a data file is no decimal number.`,
      nextStep: "Take the file that SOURCES.md names.",
    });
  }
  const exponent = Number(match[4] ?? 0) - (match[3] ?? "").length + Math.round(Math.log10(scale));
  const value = BigInt(digits);
  const whole =
    exponent >= 0
      ? value * 10n ** BigInt(exponent)
      : (2n * value + 10n ** BigInt(-exponent)) / (2n * 10n ** BigInt(-exponent));
  return Number(match[1] === "-" ? -whole : whole);
}

export const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
