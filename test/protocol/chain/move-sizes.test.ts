import { encodeFunctionData, type Hex, keccak256, size } from "viem";
import { describe, expect, it } from "vitest";
import { rawInput, rawProgram } from "../../../conformance/generate/small-programs.ts";
import { MAX_MOVE_BYTES } from "../../../inference/program/check.ts";
import { maxCalldata, outputLength } from "../../../inference/program/shape.ts";
import { assertValid, validateProgram } from "../../../inference/program/validate.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { haltAction } from "../../../protocol/chain/execution/halt.ts";
import { iAssayAbi } from "../../../protocol/rules/generated/abis.ts";
import { type Claim, LANE, type ModelId, NO_CLAIM, type RequestId } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { tinyRequest } from "../../support/deploy.ts";

/** What a signed transaction may have: some sequencers take 95 KB, nodes 128 KB. */
const TRANSACTION_BYTES = 90_000;
/** Of a signed transaction of type 2, beside its calldata. */
const ENVELOPE_BYTES = 250;
/** Proofs of programs are Groth16's: eight words and their binding. */
const EVIDENCE: Hex = `0x${"ab".repeat(512)}`;
/** The most siblings: 11 levels of the trace, 22 of a tensor. */
const path = (levels: number): Hex[] => Array.from({ length: levels }, () => `0x${"cd".repeat(32)}` as const);

const modelId = `0x${"11".repeat(32)}` as ModelId;
const actions = new Actions({ chainId: 1, assay: accountAt(9).address });
const claim: Claim = { ...NO_CLAIM, requestId: `0x${"22".repeat(32)}` as RequestId, bond: 5n };
const bytes = (length: number): Hex => `0x${"ff".repeat(length)}`;

/** A tensor of one-word rows, whose words would not fit a move. */
const outputOfWords = (rows: number) => rawProgram(rows, [rawInput("u8", [rows, 1])]);
const longest = (inputBytes: number, elements: number) =>
  rawProgram(inputBytes, [rawInput("u8", [elements])]);

describe("validateProgram", () => {
  it.each([
    ["input and output", longest(65_536, 18_304), longest(65_536, 18_336), 84_004],
    ["equal input and output", longest(41_920, 41_920), longest(41_952, 41_952), 84_036],
  ])("error: %s above what a move carries", (_name, valid, tooLarge, found) => {
    expect(() => assertValid(valid)).not.toThrow();
    expect(validateProgram(tooLarge)).toMatchObject([
      { value: String(found), limit: `<= ${MAX_MOVE_BYTES}` },
    ]);
  });
});

describe("Actions", () => {
  const programs = [
    outputOfWords(4096),
    longest(65_536, 18_304),
    longest(41_920, 41_920),
    longest(27_904, 27_904),
  ];

  it.each(programs)("behavior: every move of a program at the limits fits a transaction (%#)", (program) => {
    const [input, output] = [bytes(maxCalldata(program)), bytes(outputLength(program))];
    const request = {
      ...tinyRequest(accountAt(1), modelId, input, 0, { lanes: 7 }),
      inputHash: keccak256(input),
    };
    const row = { words: path(32), path: path(33) };
    const moves = {
      request: actions.request(request, input),
      claim: actions.claim(request, 0, accountAt(1).address, 1n, output, 1n),
      commitTrace: actions.commitTrace(claim, path(64)),
      reveal: actions.reveal(claim, 1n, path(64), path(33)),
      convictElement: actions.convictElement(claim, 1, 2, Array(17).fill(row)),
      convictCodec: actions.convictCodec(request, claim, 1, input, bytes(32), path(11)),
      convictOutput: actions.convictOutput(claim, output, 0, [{ words: path(1), path: path(33) }]),
      settle: actions.settle(request, claim, LANE.PROOF, input, output, EVIDENCE),
      settleBatch: actions.settleBatch(modelId, accountAt(1).address, [
        { request, claim, input, output, evidence: EVIDENCE },
      ]),
      finalize: actions.finalize(request, claim),
      deliver: actions.deliver(request, claim, output),
      halt: haltAction({ deployment: { contracts: { interpreter: modelId } } } as never, modelId, input, {
        kind: "element",
        step: 1,
        element: 1,
      }),
    };
    // Models with the lane PROOF are smaller: the registry counts both outputs.
    if (maxCalldata(program) + 2 * outputLength(program) <= MAX_MOVE_BYTES) {
      const truth = { lane: LANE.PROOF, submitter: accountAt(1).address, output, evidence: EVIDENCE };
      const args = [modelId, input, truth, truth] as const;
      const data = encodeFunctionData({ abi: iAssayAbi, functionName: "haltProof", args });
      expect(size(data) + ENVELOPE_BYTES).toBeLessThan(TRANSACTION_BYTES);
    }
    for (const [name, move] of Object.entries(moves)) {
      expect(size(move?.data ?? "0x") + ENVELOPE_BYTES, name).toBeLessThan(TRANSACTION_BYTES);
    }
  });
});
