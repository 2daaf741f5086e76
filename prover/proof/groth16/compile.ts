/** Compiles a program with its weights into a circuit: weights are constants, CODEC tensors and the output are public
 *  signals (protocol/rules/proof/public-signals.ts). Source: docs/CIRCUIT.md. */
import { BaseError } from "../../../base/errors.ts";
import { describeOperation } from "../../../inference/profile/describe.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import type { Range } from "../../../inference/profile/range.ts";
import {
  isStep,
  type Model,
  NONE,
  type Opcode,
  type Program,
  type Step,
  weightIndex,
} from "../../../inference/program/form.ts";
import { fromStoredBytes } from "../../../inference/program/tensor.ts";
import {
  type PackedTensor,
  packTensor,
  type SignalLayout,
  signalLayout,
} from "../../../protocol/rules/proof/public-signals.ts";
import { Circuit, CountedEnough, MAX_COUNTED, type StepCost } from "./circuit.ts";
import type { CircuitTensor, GadgetContext } from "./gadgets/gadget.ts";
import { GADGETS } from "./gadgets/generated/index.ts";
import { constant, type Int, narrow } from "./integer.ts";
import type { R1cs, Witness } from "./r1cs.ts";
import { packOutput, unpackInput } from "./unpack.ts";

/** Form of the circuits that this makes: 1 more when it makes another one of a program, so that no key of an old one is
 *  taken for the new. */
export const CIRCUIT_FORM = 2;

/** What a circuit may have unless the caller says otherwise: a key of some 20 MB and proofs below two seconds. */
export const MAX_CONSTRAINTS = 2 ** 14;

export interface CompiledCircuit {
  readonly r1cs: R1cs;
  readonly signals: SignalLayout;
  readonly costs: readonly StepCost[];
  /** Wires that hold the binding: the last signal if it holds nothing else, else bits of it. */
  readonly bindingWires: readonly number[];
  /** Every wire for one request. The witness holds the output's signals.
   *  @param inputs signals of the CODEC tensors, in order @param binding of 152 bits
   *  @param forced values by wire instead of those computed, for tests of soundness */
  witness(inputs: readonly bigint[], binding: bigint, forced?: ReadonlyMap<number, bigint>): Witness;
}

/** What a circuit would be. */
export interface CircuitSize {
  /** Above MAX_COUNTED: at least so many; later steps are not counted. */
  readonly constraints: number;
  /** Coefficients of A and B. */
  readonly coefficients: number;
  readonly publicSignals: number;
  /** Points at which a prover evaluates: a power of two with room for the rows of the public signals. */
  readonly domain: number;
  readonly costs: readonly StepCost[];
}

/** @param limit most constraints
 *  @throws BaseError CIRCUIT_TOO_LARGE with the constraints of the dearest steps; NO_CIRCUIT, NO_PUBLIC_SIGNALS for a
 *  program without a circuit; PROFILE_UNPROVEN */
export function compileCircuit(model: Model, limit = MAX_CONSTRAINTS): CompiledCircuit {
  assertWithin(circuitSize(model), limit);
  const { circuit, signals, bindingWires } = build(model, false);
  const { output } = signals;
  const { first } = output;
  return {
    r1cs: circuit.r1cs(),
    signals,
    costs: circuit.costs,
    bindingWires,
    witness: (inputs, binding, forced) => {
      if (inputs.length !== first) throw new TypeError(`${inputs.length} input signals, must be ${first}`);
      // The circuit adds the output to the binding.
      const nothing = new Int32Array(output.elements);
      const given = [...inputs, ...packTensor(output, nothing, binding)];
      return circuit.witness((values) => {
        given.forEach((value, i) => {
          values[1 + i] = value;
        });
      }, forced);
    },
  };
}

/** Counts constraints without keeping them: also for a program far too large to prove.
 *  @throws BaseError as `compileCircuit`, but for the limit */
export function circuitSize(model: Model): CircuitSize {
  const { circuit, signals } = build(model, true);
  const coefficients = circuit.costs.reduce((sum, cost) => sum + cost.coefficients, 0);
  const constraints = circuit.constraintCount;
  return {
    constraints,
    coefficients,
    publicSignals: signals.count,
    domain: 2 ** Math.ceil(Math.log2(constraints + signals.count + 1)),
    costs: circuit.costs,
  };
}

/** @throws BaseError CIRCUIT_TOO_LARGE naming the dearest steps */
export function assertWithin({ constraints, costs }: CircuitSize, limit: number): void {
  if (constraints <= limit) return;
  const count = constraints > MAX_COUNTED ? `more than ${MAX_COUNTED}` : constraints;
  const dearest = [...costs].sort((a, b) => b.constraints - a.constraints).slice(0, 5);
  const lines = dearest.map((cost) => `step ${cost.step} (${cost.operation}): ${cost.constraints}`);
  throw new BaseError({
    code: "CIRCUIT_TOO_LARGE",
    shortMessage: `The circuit has ${count} constraints, at most ${limit} are allowed:\n${lines.join("\n")}`,
    nextStep: "Use the execution or the bond lane, a smaller model, or a higher limit.",
    details: { constraints, limit, steps: lines },
  });
}

function build(
  model: Model,
  counting: boolean,
): { circuit: Circuit; signals: SignalLayout; bindingWires: readonly number[] } {
  const { program } = model;
  const signals = signalLayout(program);
  const { ranges, problems } = analyse(model);
  if (problems.length > 0) proveProfile(model);
  const circuit = new Circuit(signals.count, { counting });
  let bindingWires: readonly number[] = [];
  try {
    bindingWires = buildSteps(model, circuit, signals, ranges);
  } catch (error) {
    if (!(error instanceof CountedEnough)) throw error;
  }
  return { circuit, signals, bindingWires };
}

/** @returns the wires that hold the binding */
function buildSteps(
  model: Model,
  circuit: Circuit,
  signals: SignalLayout,
  ranges: readonly Range[],
): number[] {
  const { program } = model;
  const tensors: (CircuitTensor | undefined)[] = [];
  const live = liveSteps(program);
  program.steps.forEach((step, index) => {
    tensors.push(undefined);
    if (!live.has(index)) return;
    const elements = circuit.step(index, describeOperation(step), () =>
      step.opcode === "codec"
        ? unpackInput(circuit, step, signals.inputs.find((part) => part.step === index) as PackedTensor)
        : new StepContext(model, circuit, index, tensors, ranges[index] as Range).elements(),
    );
    const bounds = boundsOf(ranges[index] as Range);
    const { type, dims } = step;
    tensors[index] = { type, dims, elements: elements.map((x, i) => narrow(x, ...bounds(i))) };
    // A program of many steps needs the memory of those that are still read.
    for (const [read, last] of live) if (last === index) tensors[read] = undefined;
  });
  const last = program.steps.length - 1;
  const { elements } = tensors[last] as CircuitTensor;
  return circuit.step(last, "output", () => {
    const saturate = program.outputCodec === "int16s";
    return packOutput(circuit, program.steps[last] as Step, signals.output, elements, saturate);
  });
}

/** Steps that the output depends on, and the CODEC steps, whose signals are always read, each with the last step
 *  that reads it. */
function liveSteps({ steps }: Program): Map<number, number> {
  const live = new Map([[steps.length - 1, steps.length]]);
  for (let i = steps.length - 1; i >= 0; i--) {
    const { opcode, a, b, c } = steps[i] as Step;
    if (opcode === "codec" && !live.has(i)) live.set(i, i);
    if (!live.has(i)) continue;
    for (const operand of [a, b, c]) if (isStep(operand) && !live.has(operand)) live.set(operand, i);
  }
  return live;
}

function boundsOf({ low, high }: Range): (i: number) => readonly [bigint, bigint] {
  const one = low.length === 1;
  return (i) => [BigInt(low[one ? 0 : i] as number), BigInt(high[one ? 0 : i] as number)];
}

class StepContext implements GadgetContext {
  readonly step: Step;
  readonly bounds: (i: number) => readonly [low: bigint, high: bigint];

  constructor(
    private readonly model: Model,
    readonly circuit: Circuit,
    private readonly index: number,
    private readonly tensors: readonly (CircuitTensor | undefined)[],
    range: Range,
  ) {
    this.step = model.program.steps[index] as Step;
    this.bounds = boundsOf(range);
  }

  elements(): Int[] {
    return GADGETS[this.step.opcode as Exclude<Opcode, "codec">](this);
  }

  operand(name: "a" | "b" | "c"): CircuitTensor {
    const operand = this.step[name];
    if (isStep(operand)) return this.tensors[operand] as CircuitTensor;
    const { descriptor, bytes } = this.weight(name);
    const { type, dims } = descriptor;
    if (type === "f32")
      this.refuse("reads f32 constants; only integers have a circuit", "Use the bond lane.");
    const data = fromStoredBytes(type, bytes);
    if (type === "bool" && data.some((x) => x > 1)) {
      this.refuse("reads a bool constant above 1", "Import the model again.");
    }
    const offset = type === "s8" ? 128 : 0;
    return { type, dims, elements: Array.from(data, (x) => constant(x - offset)) };
  }

  weight(name: "a" | "b" | "c"): ReturnType<GadgetContext["weight"]> {
    const operand = this.step[name];
    if (operand === NONE) throw new TypeError(`step ${this.index} has no operand ${name}`);
    const index = weightIndex(operand);
    const descriptor = this.model.program.weights[index];
    return {
      descriptor: descriptor as NonNullable<typeof descriptor>,
      bytes: this.model.weights[index] as Uint8Array,
    };
  }

  readonly refuse = (reason: string, nextStep: string): never => {
    throw new BaseError({
      code: "NO_CIRCUIT",
      shortMessage: `Step ${this.index} (${describeOperation(this.step)}) ${reason}.`,
      nextStep,
      details: { step: this.index, opcode: this.step.opcode },
    });
  };
}
