import { attributeName, variantName } from "./codes.ts";
import {
  type Coordinate,
  elementCount,
  isStep,
  lastDim,
  NONE,
  type Operand,
  operandDims,
  type Program,
  type Step,
  type WeightDescriptor,
  weightIndex,
} from "./form.ts";
import {
  demandDepth,
  maxCalldata,
  outputLength,
  stepShape,
  type TreeShape,
  traceHeight,
  weightBytes,
  weightShape,
} from "./shape.ts";

/** A valid program for people: one line for the program, each weight tensor and each step, as
 *  `assay model inspect` prints it. */
export function describeProgram(program: Program): string[] {
  const { inputCodec, outputCodec, inputSize, weights, steps } = program;
  const bytes = weights.reduce((sum, weight) => sum + weightBytes(weight), 0);
  return [
    `input ${inputCodec} (size ${inputSize}), output ${outputCodec}, at most ${maxCalldata(program)} bytes of calldata, ${outputLength(program)} bytes of return data`,
    `${steps.length} steps, ${weights.length} weight tensors of ${bytes} bytes, ${multiplyAccumulates(program)} multiply-accumulates, trace height ${traceHeight(program)}, at most ${demandDepth(program)} demands to a word`,
    ...weights.map(describeWeight),
    ...steps.map(describeStep),
  ];
}

/** Multiply-accumulates of all DOT steps. */
function multiplyAccumulates(program: Program): number {
  return program.steps.reduce((sum, step) => {
    return step.opcode === "dot"
      ? sum + elementCount(step.dims) * lastDim(operandDims(program, step.b))
      : sum;
  }, 0);
}

const describeTree = ({ rows, words, height }: TreeShape): string =>
  `${rows} row(s) of ${words} word(s), height ${height}`;

function describeWeight(weight: WeightDescriptor, i: number): string {
  return `w${i}: ${weight.layout} ${weight.type}[${weight.dims.join(",")}]  (${describeTree(weightShape(weight))})`;
}

function describeStep(step: Step, i: number): string {
  const variant = variantName(step.opcode, step.variant);
  const name = variant === undefined ? step.opcode : `${step.opcode}.${variant}`;
  const operands = [step.a, step.b, step.c].filter((operand) => operand !== NONE).map(describeOperand);
  const attributes = step.coordinates.length > 0 ? [describeView(step.coordinates)] : [];
  if (step.k !== 0) attributes.push(`${attributeName(step.opcode, step.variant)} ${step.k}`);
  const call = `${name}(${[...operands, ...attributes].join(", ")})`;
  return `s${i}: ${step.type}[${step.dims.join(",")}] = ${call}  (${describeTree(stepShape(step))})`;
}

function describeOperand(operand: Operand): string {
  return isStep(operand) ? `s${operand}` : `w${weightIndex(operand)}`;
}

/** `view[1,1,4,6] at (0, 0, i0, 2*i1-1)`: the output's axes are i0, i1 and so on. */
function describeView(coordinates: readonly Coordinate[]): string {
  const view = coordinates.map((coordinate) => coordinate.view).join(",");
  return `view[${view}] at (${coordinates.map(describeCoordinate).join(", ")})`;
}

function describeCoordinate({ a, p, b, q, c }: Coordinate): string {
  const terms = [
    [a, `i${p}`],
    [b, `i${q}`],
  ] as const;
  const text = terms
    .filter(([factor]) => factor !== 0)
    .map(([factor, axis]) => (factor === 1 ? axis : factor === -1 ? `-${axis}` : `${factor}*${axis}`));
  if (c !== 0 || text.length === 0) text.push(`${c}`);
  return text.join("+").replaceAll("+-", "-");
}
