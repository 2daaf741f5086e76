/** Programs that read the claimed output: any passes, and runs that find the output. */
import { concatBytes, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { outputLength } from "../../inference/program/shape.ts";
import { type Area, type Case, refusedCase } from "../case.ts";
import { claimedProgram } from "../generate/claimed-program.ts";
import { breakProgram } from "../generate/mutations.ts";
import { createRng } from "../generate/rng.ts";
import { runningModel } from "../generate/running-model.ts";
import { tensorsCase } from "./runs.ts";
import { programCase } from "./structure.ts";

const SHARE = 0.05;
const MOST_TOKENS = 24;

export const CLAIMED: Area = {
  name: "claimed",
  about:
    "programs that read the claimed output: passes on outputs of any bytes, runs that find it, changed bytes",
  lines: ["claimed", "run", "program"],
  share: SHARE,
  *cases(seed) {
    const rng = createRng(seed);
    const { model, selector, calldata } = claimedProgram(rng);
    const prepared = prepare(model, selector);
    const length = outputLength(model.program);
    const output = rng.bytes(length);
    yield tensorsCase("claimed", [calldata, output], prepared, trace(prepared, calldata, output));
    if (seed % 8 === 0) yield refusedCase(["claimed", ...words(prepared, calldata, rng.bytes(length + 1))]);
    yield runCase(prepared, calldata);
    yield programCase(breakProgram(rng, encodeProgram(model.program)));
    const running = runningModel(rng, rng.int(1, MOST_TOKENS));
    const bytes = rng.bytes(running.program.inputSize);
    yield runCase(
      prepare(running, selector),
      encodeInput(running.program, selector, { codec: "raw", bytes }),
    );
  },
};

/** A run, which a program that is not causal may refuse. */
function runCase(prepared: PreparedModel, calldata: Uint8Array): Case {
  try {
    return tensorsCase("run", [calldata], prepared, trace(prepared, calldata));
  } catch (error) {
    if (!isBaseError(error) || error.code !== "OUTPUT_NOT_FOUND") throw error;
    return refusedCase(["run", ...words(prepared, calldata)]);
  }
}

const words = ({ model, selector }: PreparedModel, ...asked: readonly Uint8Array[]): string[] =>
  [encodeProgram(model.program), concatBytes(...model.weights), selector, ...asked].map(toHex);
