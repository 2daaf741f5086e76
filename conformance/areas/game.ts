/** Ids, orders and public signals. */
import { keccak256 } from "viem";
import { type Hex, toHex } from "../../base/bytes.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { INPUT_CODECS, type Program } from "../../inference/program/form.ts";
import { modelWord } from "../../inference/program/shape.ts";
import { claimIdOf, type GameAddress, modelIdOf, requestIdOf } from "../../protocol/rules/ids.ts";
import { decodeOrder, encodeOrder } from "../../protocol/rules/orders.ts";
import { groth16Binding, publicSignals } from "../../protocol/rules/proof/public-signals.ts";
import {
  type Claim,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { type Area, type Case, refusedCase, wordCase } from "../case.ts";
import { randomProgram } from "../generate/random-program.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { claimWords, packed, REQUEST_FIELDS, requestWords } from "../lines.ts";
import { attempt } from "./structure.ts";

export const randomHash = (rng: Rng): Hex => toHex(rng.bytes(32));
export const randomAddress = (rng: Rng): Hex => toHex(rng.bytes(20));
/** Any number of so many bytes, often a small one or the largest. */
export function amount(rng: Rng, bytes: number): bigint {
  if (rng.chance(0.15)) return (1n << BigInt(8 * bytes)) - 1n;
  return BigInt(toHex(rng.bytes(rng.int(1, bytes))));
}

export const randomGame = (rng: Rng): GameAddress => ({
  chainId: rng.int(1, 2 ** 40),
  assay: randomAddress(rng),
});
export const gameWords = ({ chainId, assay }: GameAddress): string[] => [packed(chainId, 8), assay];

/** @param isWhole every part of it is there */
export function randomRequest(rng: Rng, isWhole: boolean, inputHash: Hex = randomHash(rng)): Request {
  const has = (): boolean => isWhole || rng.chance(0.5);
  const [bond, exclusive, delivery] = [has(), has(), has()];
  return {
    requester: randomAddress(rng),
    modelId: randomHash(rng) as ModelId,
    inputHash,
    lanes: rng.int(1, 7),
    fee: amount(rng, 12),
    deliveryFee: delivery ? amount(rng, 12) : 0n,
    minBond: bond ? amount(rng, 12) : 0n,
    window: Number(amount(rng, 4)),
    expiry: Number(amount(rng, 5)),
    exclusiveProver: exclusive ? randomAddress(rng) : ZERO_ADDRESS,
    exclusiveUntil: exclusive ? Number(amount(rng, 5)) : 0,
    callback: delivery ? randomAddress(rng) : ZERO_ADDRESS,
    callbackGas: delivery ? Number(amount(rng, 4)) : 0,
    salt: amount(rng, 8),
  };
}

export const randomClaim = (rng: Rng, requestId: RequestId, modelId: ModelId, outputHash: Hex): Claim => ({
  requestId,
  modelId,
  attempt: Number(amount(rng, 4)),
  prover: randomAddress(rng),
  operator: rng.chance(0.3) ? ZERO_ADDRESS : randomAddress(rng),
  outputHash,
  bond: amount(rng, 12),
  ticketBond: amount(rng, 12),
  gasPrice: amount(rng, 8),
});

export const IDS: Area = {
  name: "ids",
  about: "ids and words of models, ids of requests and claims",
  lines: ["model", "request", "claim"],
  *cases(seed) {
    const rng = createRng(seed);
    const { model, selector } = randomProgram(rng, { hostile: true, steps: rng.int(0, 3) });
    const commitment = commitModel(model);
    const lanes = rng.int(1, 7);
    const vkHash = (lanes & 2) === 0 ? new Uint8Array(32) : rng.bytes(32);
    const id = modelIdOf({ ...commitment, selector, lanes, vkHash });
    const [root, called, key] = [commitment.weightsRoot, selector, vkHash].map(toHex) as [Hex, Hex, Hex];
    const word = modelWord(model.program, Number(called), lanes);
    yield wordCase(
      ["model", toHex(encodeProgram(model.program)), root, called, packed(lanes, 1), key],
      [id, packed(word, 32)],
      ["model id", "model word"],
    );
    const game = randomGame(rng);
    const request = randomRequest(rng, rng.chance(0.5));
    const requestId = requestIdOf(game, request);
    yield wordCase(["request", ...gameWords(game), ...requestWords(request)], [requestId], ["request id"]);
    const claim = randomClaim(rng, requestId, request.modelId, randomHash(rng));
    const claimId = claimIdOf(game, claim);
    yield wordCase(["claim", ...gameWords(game), ...claimWords(claim)], [claimId], ["claim id"]);
    // One byte more than its field.
    const wide = ["request", ...gameWords(game), ...requestWords(request)] as const;
    yield refusedCase(["request", ...wide.slice(1, 6), packed(256), ...wide.slice(7)]);
  },
};

const ORDER_PARTS = [...REQUEST_FIELDS, "input"];

export const ORDERS: Area = {
  name: "orders",
  about: "orders as they are packed and as events carry them, shortened and with their parts' bits changed",
  lines: ["order", "pack"],
  *cases(seed) {
    const rng = createRng(seed);
    const input = toHex(rng.bytes(rng.int(4, 200)));
    const request = randomRequest(rng, rng.chance(0.2), keccak256(input));
    const order = encodeOrder(request, input);
    yield wordCase(["pack", ...requestWords(request), input], [order], ["order"]);
    yield refusedCase(["pack", ...requestWords({ ...request, inputHash: randomHash(rng) }), input]);
    const filed = `${request.requester}${order.slice(2)}` as Hex;
    yield orderCase(request.modelId, filed);
    yield orderCase(request.modelId, filed.slice(0, 2 + 2 * rng.int(0, 140)) as Hex);
    const parts = packed(rng.chance(0.8) ? rng.int(0, 8) : rng.int(0, 255), 1).slice(2);
    yield orderCase(request.modelId, `${filed.slice(0, 42)}${parts}${filed.slice(44)}` as Hex);
  },
};

function orderCase(modelId: ModelId, filed: Hex): Case {
  const found = attempt(() => decodeOrder(modelId, filed));
  const line = ["order", modelId, filed] as const;
  if (found === undefined) return refusedCase(line);
  return wordCase(line, [...requestWords(found.request), found.input], ORDER_PARTS);
}

/** Table rows around those whose ids need another byte. */
const TABLE_ROWS = [2, 255, 256, 257, 65_535, 65_536, 65_537];

function withTableRows(rng: Rng, program: Program): Program {
  if (program.inputCodec !== "text") return program;
  const k = rng.pick(TABLE_ROWS);
  return { ...program, steps: program.steps.map((one) => (one.opcode === "codec" ? { ...one, k } : one)) };
}

export const SIGNALS: Area = {
  name: "signals",
  about: "public signals of runs, bound to chain, contract, model and submitter; outputs with a bit turned",
  lines: ["signals"],
  *cases(seed) {
    const rng = createRng(seed);
    const inputCodec = INPUT_CODECS[seed % INPUT_CODECS.length] as (typeof INPUT_CODECS)[number];
    const random = randomProgram(rng, { hostile: rng.chance(0.5), steps: rng.int(0, 2), inputCodec });
    const { selector, calldata } = random;
    const program = withTableRows(rng, random.model.program);
    const output = execute(prepare({ ...random.model, program }, selector), calldata);
    const binding = {
      chainId: rng.int(1, 2 ** 40),
      proofLane: randomAddress(rng),
      modelId: randomHash(rng),
      submitter: randomAddress(rng),
    };
    const { chainId, proofLane, modelId, submitter } = binding;
    const bit = rng.int(0, 8 * output.length - 1);
    const wrong = output.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    for (const shown of [output, wrong]) {
      const found = attempt(() => publicSignals(program, selector, calldata, shown, groth16Binding(binding)));
      const words = [encodeProgram(program), selector, calldata, shown].map(toHex);
      const line = ["signals", ...words, packed(chainId, 8), proofLane, modelId, submitter] as const;
      yield found === undefined
        ? refusedCase(line)
        : wordCase(
            line,
            found.map((signal) => packed(signal, 32)),
          );
    }
  },
};
