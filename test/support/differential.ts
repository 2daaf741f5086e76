/** Compares an executor with onnxruntime on the emitted file, element by element, and counts what was compared. */
import { executeTensors } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { OpcodeForms } from "../../inference/executor/prepared-model.ts";
import { dotForm } from "../../inference/opcodes/dot.ts";
import { OPCODE_FORMS } from "../../inference/opcodes/generated/index.ts";
import { plainProducts } from "../../inference/opcodes/products.ts";
import { variantName } from "../../inference/program/codes.ts";
import {
  ARITH_VARIANTS,
  FLOAT_VARIANTS,
  type Model,
  type Step,
  type Tensor,
  type TensorType,
  type WeightDescriptor,
  weightIndex,
} from "../../inference/program/form.ts";
import { bitsOf } from "../../inference/program/tensor.ts";
import { readParameters } from "../../inference/program/weights.ts";
import { openEmitted } from "./onnxruntime.ts";

/** A program and several inputs of it. */
export interface DifferentialCase {
  readonly name: string;
  readonly model: Model;
  /** Content of the CODEC steps of each run. */
  readonly runs: readonly (readonly Tensor[])[];
}

/** What is under test: every step's tensor of a run. */
export type Executor = (model: Model, runs: DifferentialCase["runs"]) => readonly (readonly Tensor[])[];

const executorOf =
  (forms: OpcodeForms): Executor =>
  (model, runs) => {
    const prepared = prepare(model, new Uint8Array(4), { forms });
    return runs.map((inputs) => executeTensors(prepared, inputs));
  };

export const canonicalExecutor = executorOf(OPCODE_FORMS);
/** As it is where the engine has no vectors. */
export const executorWithoutVectors = executorOf({ ...OPCODE_FORMS, dot: dotForm(plainProducts) });

export interface Count {
  compared: number;
  /** Elements at the lower or upper end of what their step saturates to. */
  clamped: number;
  different: number;
}

/** `dot.integer u8`: one line of the table. */
export function keyOf({ opcode, variant, type }: Pick<Step, "opcode" | "variant" | "type">): string {
  const name = variantName(opcode, variant);
  return `${opcode}${name === undefined ? "" : `.${name}`} ${type}`;
}

export class Tally {
  readonly counts = new Map<string, Count>();
  /** The first differences, in words. */
  readonly samples: string[] = [];

  of(key: string): Count {
    const known = this.counts.get(key) ?? { compared: 0, clamped: 0, different: 0 };
    this.counts.set(key, known);
    return known;
  }

  get total(): Count {
    const total = { compared: 0, clamped: 0, different: 0 };
    for (const { compared, clamped, different } of this.counts.values()) {
      total.compared += compared;
      total.clamped += clamped;
      total.different += different;
    }
    return total;
  }

  /** One line a key, and a total. */
  table(): string {
    const line = (key: string, { compared, clamped, different }: Count): string =>
      `${key.padEnd(24)}${String(compared).padStart(10)}${String(clamped).padStart(10)}${String(different).padStart(10)}`;
    const header = `${"opcode.variant type".padEnd(24)}${"compared".padStart(10)}${"at clamp".padStart(10)}${"different".padStart(10)}`;
    const lines = [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, c]) => line(key, c));
    return [header, ...lines, line("total", this.total)].join("\n");
  }
}

/** Steps that compute nothing: their bytes are copies of what is counted elsewhere, or the input. */
const isCounted = ({ opcode }: Step): boolean => opcode !== "codec" && opcode !== "move";

/** Runs a case by both and counts. */
export async function compareCase(
  executor: Executor,
  { name, model, runs }: DifferentialCase,
  tally: Tally,
): Promise<void> {
  const emitted = await openEmitted(model, { trace: true, claimed: true });
  const expected = executor(model, runs);
  for (const [run, inputs] of runs.entries()) {
    const found = await emitted.run(inputs);
    for (const [i, step] of model.program.steps.entries()) {
      const [a, b] = [expected[run]?.[i] as Tensor, found[i] as Tensor];
      countStep(tally, `${name}, run ${run}, step ${i}`, model, step, [a, b]);
    }
  }
  await emitted.close();
}

function countStep(
  tally: Tally,
  place: string,
  model: Model,
  step: Step,
  [a, b]: readonly [Tensor, Tensor],
): void {
  const key = keyOf(step);
  const [ours, theirs] = [rawOf(a), rawOf(b)];
  const count = isCounted(step) ? tally.of(key) : tally.of("move");
  const ends = clampsOf(model, step);
  for (let e = 0; e < ours.length; e++) {
    if (ours[e] !== theirs[e]) {
      count.different++;
      if (tally.samples.length < 5)
        tally.samples.push(`${place} (${key}), element ${e}: executor ${ours[e]}, onnxruntime ${theirs[e]}`);
    }
    if (ends === undefined) continue;
    const at = ends.lower.length === 1 ? 0 : e % ends.lower.length;
    const value = a.data[e] as number;
    if (value <= (ends.lower[at] as number) || value >= (ends.upper[at] as number)) count.clamped++;
  }
  if (isCounted(step)) count.compared += ours.length;
}

/** Bits, so that -0, +0 and NaN payloads count as what they are. */
const rawOf = ({ data }: Tensor): Uint8Array | Int32Array =>
  data instanceof Uint8Array ? data : bitsOf(data);

interface Ends {
  readonly lower: readonly number[];
  readonly upper: readonly number[];
}

const BYTE_ENDS: Ends = { lower: [0], upper: [255] };

/** What a step saturates to, in memory's form; one for all elements or one a channel of the last axis. */
function clampsOf(model: Model, step: Step): Ends | undefined {
  const { opcode, variant, type } = step;
  if ((opcode === "dot" && isByte(type)) || opcode === "requant") {
    const { dims } = model.program.weights[weightIndex(step.b)] as WeightDescriptor;
    const words = model.weights[weightIndex(step.b)] as Uint8Array;
    const n = dims[0] as number;
    const stride = words.length / n;
    const channels = Array.from({ length: n }, (_, i) => readParameters(words, (i + 1) * stride - 32));
    return { lower: channels.map((c) => c.lower), upper: channels.map((c) => c.upper) };
  }
  const isSaturating =
    (opcode === "arith" && !["min", "max"].includes(ARITH_VARIANTS[variant] as string)) ||
    (opcode === "float" && ["toint", "quant"].includes(FLOAT_VARIANTS[variant] as string));
  return isSaturating && isByte(type) ? BYTE_ENDS : undefined;
}

const isByte = (type: TensorType): boolean => type === "u8" || type === "s8";
