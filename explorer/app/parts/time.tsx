import { useChainNow } from "../data/chain-time.ts";
import { Hint } from "./hint.tsx";

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });
const ABSOLUTE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Seconds as `3 min 20 s`: two units at most. @param seconds of any sign; the sign is dropped */
export function durationText(seconds: number): string {
  let left = Math.abs(Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, size] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (unit === "s" && parts.length === 0)) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}

function relativeText(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return RELATIVE.format(Math.trunc(seconds / size), unit);
}

export const absoluteText = (at: number): string => ABSOLUTE.format(new Date(1_000 * at));

interface TimeProps {
  /** seconds since 1970, chain time */
  readonly at: number;
  /** without a stop for the keyboard, for lists */
  readonly plain?: boolean;
}

/** How long ago, by the chain's clock; the date on hover. */
export function Time({ at, plain = false }: TimeProps) {
  const now = useChainNow();
  const text = now === undefined ? absoluteText(at) : relativeText(at - now);
  const stamp = new Date(1_000 * at).toISOString();
  if (plain) {
    return (
      <time dateTime={stamp} title={absoluteText(at)}>
        {text}
      </time>
    );
  }
  return (
    <Hint tip={absoluteText(at)}>
      <time dateTime={stamp}>{text}</time>
    </Hint>
  );
}

/** What is left until a deadline, counted down on chain time. */
export function Countdown({ until, over = "over" }: { readonly until: number; readonly over?: string }) {
  const now = useChainNow();
  const left = now === undefined ? undefined : until - now;
  const text = left === undefined ? absoluteText(until) : left < 0 ? over : `${durationText(left)} left`;
  return (
    <Hint tip={`until ${absoluteText(until)}`} className="number">
      <time dateTime={new Date(1_000 * until).toISOString()}>{text}</time>
    </Hint>
  );
}
