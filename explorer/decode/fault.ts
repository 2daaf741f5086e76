/** The fault that a transaction showed, from its calldata. */
import { decodeFunctionData, type Hex, toFunctionSelector } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Program, Step } from "../../inference/program/form.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import type { Conviction } from "../api/types.ts";
import { decodeElement } from "./element.ts";
import { stepView } from "./steps.ts";
import { finite, valueOfStored } from "./values.ts";

/** What the event Fell says. */
export interface Verdict {
  readonly step: bigint;
  readonly element: bigint;
  readonly expected: bigint;
  readonly claimed: bigint;
}

type Fault = NonNullable<Conviction["fault"]>;

/** Calls that convict, by selector. */
const CONVICTIONS = ["convictElement", "convictCodec", "convictOutput"] as const;
const SELECTORS = new Map(
  iAssayAbi.flatMap((item) =>
    item.type === "function" && (CONVICTIONS as readonly string[]).includes(item.name)
      ? [[toFunctionSelector(item), item.name as (typeof CONVICTIONS)[number]] as const]
      : [],
  ),
);

/** @param input calldata of the transaction that made the claim fall
 *  @throws BaseError CONVICTION_UNREADABLE where it is no call of Assay by itself, or not of this program */
export function decodeFault(program: Program, input: Hex, verdict: Verdict): Fault {
  if (!SELECTORS.has(input.slice(0, 10) as Hex))
    throw unreadable("the transaction calls another contract, which called Assay");
  const call = decodeFunctionData({ abi: iAssayAbi, data: input });
  try {
    switch (call.functionName) {
      case "convictElement": {
        const [, step, element, openings] = call.args;
        if (step !== verdict.step || element !== verdict.element)
          throw unreadable("it convicts another element than the event says");
        return elementFault(
          program,
          verdict,
          openings.map(({ words }) => words.map(fromHex)),
        );
      }
      case "convictCodec": {
        const [, , step, calldata] = call.args;
        return {
          kind: "CODEC",
          step: stepView(program, Number(step)),
          input: calldata,
          expectedRoot: word(verdict.expected),
          claimedRoot: word(verdict.claimed),
        };
      }
      case "convictOutput": {
        const [, output, element] = call.args;
        return {
          kind: "OUTPUT",
          element: Number(element),
          output,
          expected: `${BigInt.asIntN(256, verdict.expected)}`,
          claimed: `${BigInt.asIntN(256, verdict.claimed)}`,
        };
      }
      default:
        throw unreadable(`it calls ${call.functionName}`);
    }
  } catch (cause) {
    if (cause instanceof RangeError) throw unreadable(cause.message, cause);
    throw cause;
  }
}

function elementFault(
  program: Program,
  verdict: Verdict,
  openings: readonly (readonly Uint8Array[])[],
): Fault {
  const [step, element] = [Number(verdict.step), Number(verdict.element)];
  const { type } = program.steps[step] as Step;
  const decoded = decodeElement(program, step, element, openings);
  return {
    kind: "ELEMENT",
    step: stepView(program, step),
    element,
    ...decoded,
    operands: decoded.operands.map((operand) => ({ ...operand, values: operand.values.map(finite) })),
    expected: valueOfStored(type, verdict.expected),
    claimed: valueOfStored(type, verdict.claimed),
  };
}

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;

const unreadable = (why: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "CONVICTION_UNREADABLE",
    shortMessage: `The conviction cannot be shown: ${why}.`,
    nextStep: "Look at the transaction itself.",
    ...(cause === undefined ? {} : { cause }),
  });
