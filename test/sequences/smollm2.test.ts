/** A language model on a chain, with real processes: whoever claims a wrong token of SmolLM2-135M-Instruct is convicted,
 *  though both sides are killed in the middle, and the right answer becomes final. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { decodeOutput } from "../../inference/codecs/output.ts";
import type { Manifest } from "../../inference/manifest/assay.ts";
import type { Program } from "../../inference/program/form.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { ID_OFFSET, NO_ID, promptNumbers } from "../../inference/text/ids.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { of } from "../support/cases.ts";
import { ownFolder, ownModel } from "../support/own-models.ts";
import { smollm2Weights } from "../support/smollm2.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { Victim } from "../support/victim.ts";

/** Room for a process to start anew, which proves the model again, on any machine. */
const ANSWER_SECONDS = 600;
const PATIENCE_MS = 1_500_000;
/** The first run of a thread plans the rows, too. */
const PATIENT = ["--run-timeout-seconds", "600"];
/** Sixteen numbers fill a word, so that the cheat's changed last byte is one of a number. */
const LENGTHS = { prompt: 24, answer: 16 };
/** "What is the capital of France?" by the chat template, without a system prompt. */
const PROMPT = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198];
/** "The capital of France is Paris.", the end token, and behind it nothing. */
const ANSWER = [504, 3575, 282, 4649, 314, 7042, 30, 2, ...new Array<number>(8).fill(NO_ID + ID_OFFSET)];

const weights = smollm2Weights();

describe.skipIf(weights === undefined)("SmolLM2-135M-Instruct on a chain", () => {
  let system: System;
  let program: Program;
  let assay: Manifest["assay"];
  let challenger: Victim;
  let cheat: Victim;

  beforeAll(async () => {
    system = await startSystem({ models: [], answerSeconds: ANSWER_SECONDS });
    const folder = ownFolder(system, "smollm2");
    const { prompt, answer } = LENGTHS;
    const args = ["--from", `${weights}`, "--prompt", `${prompt}`, "--answer", `${answer}`, "--out", folder];
    const { code, stderr } = await runInProcess(["model", "derive", "smollm2", ...args], {});
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await ownModel(system, ["register", folder]);
    program = readProgram(new Uint8Array(readFileSync(join(folder, "program.bin"))));
    ({ assay } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest);
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...PATIENT]);
    // A wrong last token, and the honest trace of that answer.
    cheat = new Victim(ROLES.cheat, "prover is up", () =>
      system.cheat("cheat", ROLES.cheat, "output", PATIENT),
    );
    challenger = new Victim(ROLES.challenger, "challenger is up", () =>
      system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]),
    );
    await Promise.all([prover.logged("prover is up"), challenger.settled(), cheat.settled()]);
  });

  afterAll(() => system?.stop());

  /** @param prover index of the account that alone may claim */
  async function claimOf(prover: number) {
    const int16s = promptNumbers(PROMPT, LENGTHS.prompt);
    const calldata = encodeInput(program, fromHex(assay.selector), { codec: "int16s", int16s });
    const model = { modelId: assay.modelId as Hex };
    const asked = await system.ask({ model, calldata, prover: systemAccount(prover).address });
    const claimed = await system.events.until(
      "Claimed",
      ({ requestId }) => requestId === asked.requestId,
      PATIENCE_MS,
    );
    const ids = Array.from(decodeOutput(program, fromHex(claimed.output)).data, (id) => id + ID_OFFSET);
    return { ...claimed, ids };
  }

  it("behavior: a wrong token is convicted, though both sides are killed, and the right answer is final", async () => {
    const [honest, wrong] = await Promise.all([claimOf(ROLES.prover), claimOf(ROLES.cheat)]);
    expect(honest.ids).toEqual(ANSWER);
    expect(wrong.ids).not.toEqual(ANSWER);
    await system.events.until("Challenged", of(wrong), PATIENCE_MS);
    challenger.strike("Challenged", "in the middle");
    cheat.strike("Challenged", "in the middle");
    await Promise.all([challenger.settled(), cheat.settled()]);
    const fell = await system.events.until("Fell", of(wrong), PATIENCE_MS);
    expect(FALL_REASONS[fell.reason]).toBe("OUTPUT");
    await system.passTime(5 * ANSWER_SECONDS + 1);
    await system.events.until("Finalized", of(honest), PATIENCE_MS);
    expect(system.events.all("Fell", of(honest))).toEqual([]);
  });
});
