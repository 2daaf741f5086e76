/** Text that others wrote, made safe to stand in a log, a prompt's list or an event. */

import { codePointEscape } from "../../base/escapes.ts";

/** Controls, invisible and direction-changing characters, line separators, fillers, halves of surrogate pairs,
 *  unassigned. The selectors of how a picture is drawn are none of them. */
const INVISIBLE =
  /(?!\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** One line, with invisible characters as `\u{…}`, cut at `limit` characters. */
export function visibleText(text: string, limit: number): string {
  // Cutting first bounds the work; escapes make it longer again.
  const escaped = text.slice(0, limit).replace(INVISIBLE, codePointEscape);
  const isCut = text.length > limit || escaped.length > limit;
  return isCut ? `${escaped.slice(0, limit - 1)}…` : escaped;
}

/** A value as JSON allows it, every text in it visible and bounded, at most `depth` levels and 50 entries a level. */
export function visibleValue(value: unknown, limit: number, depth = 6): unknown {
  if (typeof value === "string") return visibleText(value, limit);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => visibleValue(item, limit, depth - 1));
  const entries = Object.entries(value).slice(0, 50);
  return Object.fromEntries(
    entries.map(([key, item]) => [visibleText(key, 80), visibleValue(item, limit, depth - 1)]),
  );
}
