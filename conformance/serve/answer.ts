/** The TypeScript implementation behind the lines: executor, codecs, commitments and rules as the nodes use them, single
 *  elements by the plain reference. */
import { equalBytes, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { decodeInput, fillInputTensor } from "../../inference/codecs/input.ts";
import { encodeOutput, outputElement, outputFault } from "../../inference/codecs/output.ts";
import { commitTrace, commitWeights, programHash, tensorRoot } from "../../inference/commit/commitments.ts";
import { foldOpening, outputRead } from "../../inference/commit/openings.ts";
import { decodePosition } from "../../inference/commit/positions.ts";
import { foldReveal, foldTops, traceShapes } from "../../inference/commit/reveal.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import {
  elementBytes,
  elementCount,
  isClaimed,
  judgeVersionOf,
  type Program,
  type Tensor,
} from "../../inference/program/form.ts";
import {
  lastStep,
  maxCalldata,
  modelWord,
  outputLength,
  weightBytes,
} from "../../inference/program/shape.ts";
import { fromStoredBytes, newData, storedBytes } from "../../inference/program/tensor.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { modelIdOf } from "../../protocol/rules/ids.ts";
import { groth16Binding, publicSignals } from "../../protocol/rules/proof/public-signals.ts";
import { type Answer, LINES, type LineName, packed } from "../lines.ts";
import { judgeElement } from "./element.ts";
import { claimLine, orderLine, packLine, receiptLine, requestLine } from "./game.ts";
import {
  batchLine,
  compactLine,
  digestLine,
  expandLine,
  memberLine,
  pathLine,
  signerLine,
} from "./promises.ts";
import { refuseLine, Words } from "./words.ts";

type Handler = (words: Words) => readonly string[] | Promise<readonly string[]>;

const HANDLERS: Readonly<Record<LineName, Handler>> = {
  lines: () => LINES,
  program: (words) => {
    programOf(words);
    return [];
  },
  run: (words) => run(words),
  claimed: (words) => run(words, () => words.bytes()),
  codec,
  output,
  returned,
  element: judgeElement,
  model,
  tops: (words) => {
    const { steps } = programOf(words);
    return [toHex(foldTops(steps.length, words.words()))];
  },
  reveal,
  request: requestLine,
  claim: claimLine,
  order: orderLine,
  pack: packLine,
  signals,
  receipt: receiptLine,
  digest: digestLine,
  signer: signerLine,
  expand: expandLine,
  compact: compactLine,
  batch: batchLine,
  path: pathLine,
  member: memberLine,
};

/** @throws what is no refusal: a fault of this program */
export async function answer(line: string): Promise<Answer> {
  const [name = "", ...rest] = line.split(" ").filter((word) => word !== "");
  try {
    const handler = Object.hasOwn(HANDLERS, name)
      ? HANDLERS[name as LineName]
      : refuseLine("line", name, LINES.join(", "));
    const words = new Words(rest);
    const found = await handler(words);
    words.end();
    return found;
  } catch (error) {
    if (isBaseError(error)) return "refused";
    throw error;
  }
}

const programOf = (words: Words): Program => readProgram(words.bytes());

/** A word's bytes as the tensor of the last step. */
function lastTensor(program: Program, bytes: Uint8Array): Tensor {
  const { type, dims } = lastStep(program);
  const length = elementCount(dims) * elementBytes(type);
  if (bytes.length !== length) refuseLine("length of a tensor", bytes.length, `${length} bytes`);
  return { type, dims, data: fromStoredBytes(type, bytes) };
}

/** weights.bin, cut into its tensors. */
function splitWeights({ weights }: Program, bytes: Uint8Array): Uint8Array[] {
  const lengths = weights.map(weightBytes);
  const length = lengths.reduce((sum, one) => sum + one, 0);
  if (bytes.length !== length) refuseLine("length of the weights", bytes.length, `${length} bytes`);
  let end = 0;
  return lengths.map((one) => {
    end += one;
    return bytes.slice(end - one, end);
  });
}

/** @param claimed reads the output that a program reads which does; absent: the one that it finds right */
function run(words: Words, claimed?: () => Uint8Array): string[] {
  const program = programOf(words);
  const bytes = words.bytes();
  const prepared = prepare({ program, weights: splitWeights(program, bytes) }, words.fixed(4));
  const calldata = words.bytes();
  const output = claimed?.();
  const length = outputLength(program);
  if (output !== undefined && output.length !== length)
    refuseLine("length of the output", output.length, `${length} bytes`);
  const tensors = trace(prepared, calldata, output);
  return [
    toHex(encodeOutput(program, tensors.at(-1) as Tensor)),
    toHex(commitWeights(prepared.model).root),
    toHex(commitTrace(program, tensors).root),
    ...tensors.map(({ data }) => toHex(storedBytes(data))),
  ];
}

function codec(words: Words): string[] {
  const program = programOf(words);
  const input = decodeInput(program, words.fixed(4), words.bytes());
  const step = program.steps[words.number(16)];
  if (step?.opcode !== "codec" || isClaimed(step))
    refuseLine("step", step?.opcode, "a CODEC step that reads calldata");
  const data = newData(step.type, elementCount(step.dims));
  fillInputTensor(step, input, data);
  return [toHex(storedBytes(data)), toHex(tensorRoot(step, data))];
}

function output(words: Words): string[] {
  const program = programOf(words);
  return [toHex(encodeOutput(program, lastTensor(program, words.bytes())))];
}

/** What an output holds of one element, and what it must hold of an opened one. */
function returned(words: Words): string[] {
  const program = programOf(words);
  const root = words.fixed(32);
  const claimed = words.bytes();
  const element = words.number(32);
  const opening = { words: words.words(), path: words.words() };
  const step = program.steps.length - 1;
  const read = outputRead(program, step, element);
  if (!equalBytes(foldOpening(program, read, opening), root))
    refuseLine("root of the opening", "another", "the trace's");
  const { type, dims } = lastStep(program);
  const size = elementBytes(type);
  const data = newData(type, elementCount(dims));
  const empty = encodeOutput(program, { type, dims, data });
  if (claimed.length !== empty.length || outputFault(program, empty, claimed) === "form")
    refuseLine("form of the output", "another", "the codec's");
  const place = ((element % (dims.at(-1) as number)) * size) % 32;
  const word = (opening.words[0] as Uint8Array).slice(place, place + size);
  data[element] = fromStoredBytes(type, word)[0] as number;
  const right = encodeOutput(program, { type, dims, data });
  return [claimed, right].map((bytes) => toHex(outputElement(program, bytes, element)));
}

function model(words: Words): string[] {
  const program = programOf(words);
  const weightsRoot = words.fixed(32);
  const selector = words.fixed(4);
  const lanes = words.number(8);
  const commitment = {
    programHash: programHash(program),
    weightsRoot,
    maxCalldata: maxCalldata(program),
    outputLength: outputLength(program),
    judgeVersion: judgeVersionOf(program),
  };
  const id = modelIdOf({ ...commitment, selector, lanes, vkHash: words.fixed(32) });
  return [id, packed(modelWord(program, Number(toHex(selector)), lanes), 32)];
}

function reveal(words: Words): string[] {
  const program = programOf(words);
  const root = words.fixed(32);
  const position = decodePosition(words.bigint(64));
  const found = foldReveal(traceShapes(program), position, { content: words.words(), path: words.words() });
  if (!equalBytes(found, root)) refuseLine("trace root", toHex(found), toHex(root));
  return [];
}

function signals(words: Words): string[] {
  const program = programOf(words);
  const [selector, calldata, data] = [words.fixed(4), words.bytes(), words.bytes()];
  const binding = groth16Binding({
    chainId: words.number(53),
    proofLane: words.hex(20),
    modelId: words.hex(32),
    submitter: words.hex(20),
  });
  return publicSignals(program, selector, calldata, data, binding).map((signal) => packed(signal, 32));
}
