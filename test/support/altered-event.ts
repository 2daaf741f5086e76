/** Events with one value replaced, for audits that must notice. */
import { getAddress } from "viem";

/** The event with one value of its arguments replaced by another one of its kind. */
export function altered<Event extends { readonly args: object }>(
  event: Event,
  path: readonly string[],
): Event {
  const change = (value: unknown, [first, ...rest]: readonly string[]): unknown => {
    if (first === undefined) return other(value);
    if (Array.isArray(value))
      return value.map((item, i) => (String(i) === first ? change(item, rest) : item));
    return { ...(value as object), [first]: change((value as Record<string, unknown>)[first], rest) };
  };
  return { ...event, args: change(event.args, path) };
}

function other(value: unknown): unknown {
  if (typeof value === "bigint") return value + 1n;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  const text = String(value);
  const changed = text.slice(0, -1) + (text.endsWith("1") ? "2" : "1");
  return changed.length === 42 ? getAddress(changed.toLowerCase()) : changed;
}

/** Ways to each value of an event's arguments. */
export function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [[]];
  return Object.entries(value).flatMap(([name, item]) => pathsOf(item).map((path) => [name, ...path]));
}
