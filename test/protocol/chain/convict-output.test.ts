/** Any wrong output is convicted by one element, in a transaction that every node takes, however many words the last
 *  tensor has: on the real contracts. */
import { size } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { actionOf } from "../../../challenger/act.ts";
import { ClaimedTrace } from "../../../challenger/claimed-trace.ts";
import { interrogate } from "../../../challenger/interrogate.ts";
import { loadArtifacts } from "../../../cli/artifacts.ts";
import { rawInput, rawProgram, step } from "../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { encodeOutput } from "../../../inference/codecs/output.ts";
import { commitModel, commitTrace, commitWeights } from "../../../inference/commit/commitments.ts";
import { topsOf, traceShapes } from "../../../inference/commit/reveal.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { Model, Tensor } from "../../../inference/program/form.ts";
import { demandDepth } from "../../../inference/program/shape.ts";
import { type Action, Actions } from "../../../protocol/chain/actions.ts";
import { bondsOf } from "../../../protocol/rules/money.ts";
import { FALL_REASONS, LANE, type ModelId, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { LOCAL_CONSTANTS, TINY_IDENTITY, TINY_SELECTOR, tinyRequest } from "../../support/deploy.ts";
import { EvmWorld } from "../../support/evm-world.ts";
import { addressOf } from "../../support/game-table.ts";

/** Some sequencers take 95 KB of a transaction. */
const TRANSACTION_BYTES = 90_000;
const [REQUESTER, PROVER, ANN] = [accountAt(1).address, addressOf(0x501), addressOf(0x502)];

/** Bytes to rows of one byte: as many words as elements, and an output as long as a move carries. */
const ROWS = 41_901;
const view = { view: ROWS, a: 1, p: 0, b: 0, q: 0, c: 0 };
const one = { ...view, view: 1, a: 0 };
const program = rawProgram(ROWS, [
  rawInput("u8", [1, ROWS]),
  step({ opcode: "move", type: "u8", dims: [ROWS, 1], a: 0, coordinates: [view, one, one, one] }),
]);
const model: Model = { program, weights: [] };
const prepared = prepare(model, TINY_SELECTOR);
const bytes = Uint8Array.from({ length: ROWS }, (_, i) => i % 251);
const input = encodeInput(program, TINY_SELECTOR, { codec: "raw", bytes });
const tensors = trace(prepared, input);
const own = {
  program,
  tensors,
  trace: commitTrace(program, tensors),
  weights: commitWeights(model),
  constant: prepared.constant.bind(prepared),
};

let world: EvmWorld;
let modelId: ModelId;
let now = 1_000;

beforeAll(async () => {
  world = await EvmWorld.open(loadArtifacts(), LOCAL_CONSTANTS);
  ({ modelId } = await world.register(program, {
    ...TINY_IDENTITY,
    ...commitModel(model),
    lanes: LANE.BOND,
  }));
}, 60_000);

async function move(from: `0x${string}`, action: Action) {
  now += 1;
  const { refusal, events } = await world.send(from, action, now);
  expect(refusal, action.key).toBeUndefined();
  return events;
}

describe("convictOutput", () => {
  const right = encodeOutput(program, tensors.at(-1) as Tensor);
  test.each([
    ["an element in the middle", 64 + 20_000, { element: 20_000n, expected: 171n, claimed: 170n }],
    ["the first element", 64, { element: 0n, expected: 0n, claimed: 1n }],
    ["the last element", 64 + ROWS - 1, { element: BigInt(ROWS - 1), expected: 234n, claimed: 235n }],
    ["the length in front of the elements", 63, { element: 0n, expected: 1n, claimed: 0n }],
    ["the zeros that fill up the last word", right.length - 1, { element: 0n, expected: 1n, claimed: 0n }],
  ])("behavior: %s of 41,901 one-word rows", async (_name, byte, found) => {
    const actions = new Actions(world.game);
    const output = right.map((value, i) => (i === byte ? value ^ 1 : value));
    const request = tinyRequest(accountAt(1), modelId, toHex(input), now, { salt: BigInt(byte) });
    await move(REQUESTER, actions.request(request, toHex(input)));
    const gasPrice = 2n * LOCAL_CONSTANTS.gasPriceFloor;
    const terms = { ...request, gasPrice, depth: demandDepth(program), attempt: 0 };
    const { bond } = bondsOf(LOCAL_CONSTANTS, terms);
    const [claimed] = await move(
      PROVER,
      actions.claim(request, 0, ZERO_ADDRESS, gasPrice, toHex(output), bond),
    );
    if (claimed?.name !== "Claimed") throw new Error("there is no claim");
    const { claim } = claimed.args;
    await move(ANN, actions.challenge(claim));
    await move(PROVER, actions.commitTrace(claim, topsOf(own.trace).map(toHex)));
    const question = interrogate(own, new ClaimedTrace(traceShapes(program), topsOf(own.trace)), output);
    if (question.kind !== "output") throw new Error(`it ends in ${question.kind}`);
    const action = actionOf(
      actions,
      { kind: "convict", question },
      request as never,
      { claim } as never,
      ANN,
    );
    if (action === undefined) throw new Error("there is no move");
    expect(size(action.data)).toBeLessThan(TRANSACTION_BYTES);
    const fell = (await move(ANN, action)).find(({ name }) => name === "Fell");
    expect(fell?.args).toMatchObject({ reason: FALL_REASONS.indexOf("OUTPUT"), step: 0n, ...found });
  });
});
