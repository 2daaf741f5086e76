/** Chooses the form of a requantization: integer where every channel has one, else binary32 for the whole step. */

import type { Variant } from "../../program/codes.ts";
import type { TensorType } from "../../program/form.ts";
import type { ChannelParameters } from "../../program/weights.ts";
import { CHANNEL } from "../budget.ts";
import { refuse } from "../refusal.ts";
import { findIntegerForm, type IntegerForm } from "../requantize/integer-form.ts";
import { type Rule, roundHalfEven } from "../requantize/rule.ts";
import type { Lowering } from "./lowering.ts";
import type { Nudge } from "./reports.ts";

/** Rules of one step: one, or one for each channel. */
export interface Rules {
  readonly list: readonly Rule[];
  /** Scale that a nudge moves, and the rule scale that follows from a moved one. */
  readonly movable: (channel: number) => { readonly from: number; readonly scale: (moved: number) => number };
}

export interface ChosenForm {
  readonly form: Variant<"requant">;
  readonly channels: readonly { readonly rule: Rule; readonly form: IntegerForm | undefined }[];
}

const MAX_NUDGE = 1e-3;
/** Tries for a channel, spread over ±MAX_NUDGE. */
const NUDGE_TRIES = 256;

/** @param bounds accumulators of each channel of the step; as many as rules, or all for the one rule */
export function chooseForm(
  ctx: Lowering,
  rules: Rules,
  bounds: readonly (readonly [number, number])[],
): ChosenForm {
  ctx.builder.budget.spend(CHANNEL * bounds.length);
  const nudges: Nudge[] = [];
  const without: number[] = [];
  const channels = bounds.map(([low, high], n) => {
    const rule = (rules.list[n] ?? rules.list[0]) as Rule;
    if (!(rule.scale >= 2 ** -100 && rule.scale < 2 ** 31)) {
      refuse(`the scale of channel ${n} is ${rule.scale}`, "Use scales from 2^-100 to 2^31.");
    }
    const form = findIntegerForm(rule, low, high);
    if (form !== undefined) return { rule, form };
    if (ctx.options.nudge) ctx.builder.budget.spend(CHANNEL * 2);
    const nudged = ctx.options.nudge ? nudge(rules, n, rule, low, high) : undefined;
    if (nudged === undefined) {
      without.push(n);
      return { rule, form };
    }
    nudges.push(nudged.nudge);
    return { rule: nudged.rule, form: nudged.form };
  });
  const form = without.length === 0 ? "integer" : "binary32";
  ctx.requantizations.push({ node: ctx.builder.node, channels: channels.length, form, without, nudges });
  return { form, channels };
}

function nudge(rules: Rules, channel: number, rule: Rule, low: number, high: number) {
  const { from, scale } = rules.movable(channel);
  for (let i = 1; i <= NUDGE_TRIES; i++) {
    // The first try is one unit in the last place up: what turns a power of two into a plain shift.
    const size = i === 1 ? 2 ** -23 : (MAX_NUDGE * i) / NUDGE_TRIES;
    for (const direction of [1, -1]) {
      const to = Math.fround(from * (1 + direction * size));
      if (to === from || Math.abs(to / from - 1) > MAX_NUDGE) continue;
      const moved = { ...rule, scale: scale(to) };
      const form = findIntegerForm(moved, low, high);
      if (form !== undefined) return { rule: moved, form, nudge: { channel, from, to } };
    }
  }
  return undefined;
}

export function parametersOf(
  chosen: ChosenForm["channels"][number] | undefined,
): Omit<ChannelParameters, "bias" | "weightOffset"> {
  const { rule, form } = chosen ?? refuse("a channel has no rule", "Export the model again.");
  return {
    multiplier: form?.m ?? 0,
    addend: form?.b ?? 0n,
    shift: form?.s ?? 0,
    scaleBits: floatBits(rule.scale),
    zeroPoint: rule.zeroPoint,
    lower: rule.lower,
    upper: rule.upper,
  };
}

/** Stored zero point and clamps of a byte output.
 *  @param clamp bounds of the real value before it is quantized */
export function byteRule(
  type: TensorType,
  zeroPoint: number,
  scale: number,
  clamp: { readonly low: number; readonly high: number; readonly yScale: number },
): Rule {
  const stored = zeroPoint + (type === "s8" ? 128 : 0);
  const at = (real: number, otherwise: number): number => {
    if (!Number.isFinite(real)) return otherwise;
    const q = roundHalfEven(Math.fround(Math.fround(real) / clamp.yScale));
    return Math.min(Math.max(q + stored, 0), 255);
  };
  return { scale, zeroPoint: stored, lower: at(clamp.low, 0), upper: at(clamp.high, 255) };
}

function floatBits(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint32(0);
}
