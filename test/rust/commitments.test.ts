import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { concatBytes, type Hex, toHex } from "../../base/bytes.ts";
import { type Subject, shapedProgram } from "../../conformance/generate/shaped-program.ts";
import { commitModel, commitTrace } from "../../inference/commit/commitments.ts";
import { demandPath, encodePosition, TRACE_STEP } from "../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { claimIdOf, modelIdOf, requestIdOf } from "../../protocol/rules/ids.ts";
import type { Claim, ModelId, Request, RequestId } from "../../protocol/rules/types.ts";
import { createRng, type Rng } from "../support/rng.ts";
import { RustExecutor } from "../support/rust.ts";

const FIRST = 4_000_000;
/** Programs, at least, and of them those whose trace tree has positions of its own. */
const PROGRAMS = 60;
const LONG = 5;
/** A trace tree of more steps has positions of its own. */
const STEPS_OF_A_LEVEL = 64;
const IDS = 200;

let rust: RustExecutor;
beforeAll(() => {
  rust = RustExecutor.build();
});
afterAll(async () => {
  await rust?.close();
});

/** Programs in the order of their seeds: all at first, then only long ones. */
function* subjects(): Generator<Subject> {
  let long = 0;
  for (let seed = FIRST; seed < FIRST + PROGRAMS || long < LONG; seed++) {
    const subject = shapedProgram(seed);
    const isLong = subject.model.program.steps.length > STEPS_OF_A_LEVEL;
    if (isLong) long++;
    if (isLong || seed < FIRST + PROGRAMS) yield subject;
  }
}

const joined = (words: readonly Uint8Array[]): Hex => toHex(concatBytes(...words));
const turned = (words: readonly Uint8Array[], at: number): Uint8Array[] =>
  words.map((word, i) => (i === at ? word.map((byte, j) => (j === 0 ? byte ^ 1 : byte)) : word));

describe("assay-exact lines: tops, reveal", () => {
  test("behavior: what a prover publishes and reveals is taken, and with one bit turned refused", async () => {
    const counts = { reveals: 0, ofTheTrace: 0, refused: 0 };
    for (const { model, selector, inputs } of subjects()) {
      const { program } = model;
      const rng = createRng(program.steps.length);
      const commitment = commitTrace(program, trace(prepare(model, selector), inputs[0] as Uint8Array));
      const root = toHex(commitment.root);
      const bytes = toHex(encodeProgram(program));
      const tops = topsOf(commitment);
      expect(await rust.ask("tops", bytes, joined(tops))).toEqual([root]);
      expect(await rust.ask("tops", bytes, joined(turned(tops, 0)))).not.toEqual([root]);
      const shapes = traceShapes(program);
      for (let i = 0; i < 4; i++) {
        const step = rng.int(0, shapes.length - 1);
        // The first leaf of a row is a word in every tensor.
        const { rows, rowHeight } = shapes[step] as (typeof shapes)[number];
        for (const position of demandPath(shapes, step, rng.int(0, rows - 1) * 2 ** rowHeight)) {
          const { content, path } = revealAt(commitment, position);
          const ask = (words: readonly Uint8Array[], siblings: readonly Uint8Array[]) =>
            rust.ask(
              "reveal",
              bytes,
              root,
              packed(encodePosition(position), 8),
              joined(words),
              joined(siblings),
            );
          expect(await ask(content, path)).toEqual([]);
          expect(await ask(turned(content, rng.int(0, content.length - 1)), path)).toBeUndefined();
          expect(await ask(content.slice(1), path)).toBeUndefined();
          counts.refused += 2;
          if (path.length > 0) {
            expect(await ask(content, turned(path, rng.int(0, path.length - 1)))).toBeUndefined();
            counts.refused++;
          }
          counts.reveals++;
          if (position.step === TRACE_STEP) counts.ofTheTrace++;
        }
      }
    }
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(counts.ofTheTrace).toBeGreaterThan(10);
    expect(counts.reveals).toBeGreaterThan(200);
  });
});

/** A number as big-endian bytes. */
const packed = (value: bigint | number, bytes: number): Hex =>
  `0x${value.toString(16).padStart(2 * bytes, "0")}`;
const unsigned = (rng: Rng, bytes: number): bigint => BigInt(toHex(rng.bytes(bytes)));

describe("assay-exact lines: model, request, claim", () => {
  test("behavior: ids of random models, requests and claims", async () => {
    const rng = createRng(1);
    const word = (): Hex => toHex(rng.bytes(32));
    const address = (): Hex => toHex(rng.bytes(20));
    for (let i = 0; i < IDS; i++) {
      const game = { chainId: rng.int(1, 1 << 30), assay: address() };
      const where = [packed(game.chainId, 8), game.assay];
      const request: Request = {
        requester: address(),
        modelId: word() as ModelId,
        inputHash: word(),
        lanes: rng.int(1, 7),
        fee: unsigned(rng, 12),
        deliveryFee: unsigned(rng, 12),
        minBond: unsigned(rng, 12),
        window: Number(unsigned(rng, 4)),
        expiry: Number(unsigned(rng, 5)),
        exclusiveProver: address(),
        exclusiveUntil: Number(unsigned(rng, 5)),
        callback: address(),
        callbackGas: Number(unsigned(rng, 4)),
        salt: unsigned(rng, 8),
      };
      const claim: Claim = {
        requestId: requestIdOf(game, request) as RequestId,
        modelId: request.modelId,
        attempt: Number(unsigned(rng, 4)),
        prover: address(),
        operator: address(),
        outputHash: word(),
        bond: unsigned(rng, 12),
        ticketBond: unsigned(rng, 12),
        gasPrice: unsigned(rng, 8),
      };
      expect(await rust.ask("request", ...where, ...fieldsOf(request))).toEqual([claim.requestId]);
      expect(await rust.ask("claim", ...where, ...fieldsOf(claim))).toEqual([claimIdOf(game, claim)]);
    }
    for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
      const { model, selector } = shapedProgram(seed);
      const commitment = commitModel(model);
      const lanes = rng.int(1, 7);
      const vkHash = lanes & 2 ? rng.bytes(32) : new Uint8Array(32);
      const bytes = toHex(encodeProgram(model.program));
      expect(toHex(commitment.programHash)).toBe(keccak256(bytes));
      const words = [toHex(commitment.weightsRoot), toHex(selector), packed(lanes, 1), toHex(vkHash)];
      const [id] = (await rust.ask("model", bytes, ...words)) ?? [];
      expect(id).toBe(modelIdOf({ ...commitment, selector, lanes, vkHash }));
    }
  });
});

/** A struct's fields as lines have them: bytes as they are, numbers in 16 bytes. */
const fieldsOf = (struct: Request | Claim): string[] =>
  Object.values(struct).map((value) => (typeof value === "string" ? value : packed(value, 16)));
