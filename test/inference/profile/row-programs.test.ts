import { describe, expect, it } from "vitest";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { onePass } from "../../../inference/executor/find-output.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { programBounds } from "../../../inference/profile/causality/bounds.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import type { Model } from "../../../inference/program/form.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { rowProgram } from "../../support/row-programs.ts";
import { scaled } from "../../support/scale.ts";

const PROGRAMS = scaled(600, 6_000, 20_000);
const ROWS = 6;
const selector = Uint8Array.of(1, 2, 3, 4);

function isAccepted(model: Model): boolean {
  try {
    proveProfile(model);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "CAUSALITY_UNPROVEN") throw error;
    return false;
  }
}

/** Return data of these rows. */
function outputOf(rows: Uint8Array): Uint8Array {
  const output = new Uint8Array(64 + 32);
  [output[31], output[63]] = [32, ROWS];
  output.set(rows, 64);
  return output;
}

/** A claimed row that changes an output row of the same place or before; undefined where none of some tries does. */
function leak(prepared: PreparedModel, calldata: Uint8Array, rng: Rng): string | undefined {
  const input = prepared.decode(calldata);
  const pass = (output: Uint8Array): Uint8Array => onePass(prepared, input, output);
  for (let round = 0; round < 12; round++) {
    const claimed = outputOf(rng.bytes(ROWS));
    const other = claimed.slice();
    const row = rng.int(0, ROWS - 1);
    for (let i = row; i < ROWS; i++) other[64 + i] = rng.int(0, 255);
    const [one, two] = [pass(claimed), pass(other)];
    const first = one.findIndex((byte, i) => byte !== two[i]);
    if (first !== -1 && first - 64 <= row) return `claimed rows from ${row} on change row ${first - 64}`;
  }
  return undefined;
}

/** What as many passes as rows make of any claimed output, each on what the one before gave. */
function foundFrom(prepared: PreparedModel, calldata: Uint8Array, claimed: Uint8Array): Uint8Array {
  const input = prepared.decode(calldata);
  let output = claimed;
  for (let row = 0; row < ROWS; row++) output = onePass(prepared, input, output);
  return output;
}

describe("proveProfile", () => {
  it("behavior: whatever it accepts has one right output, and no row of it hangs on itself or a later one", () => {
    const counts = { accepted: 0, hanging: 0, refused: 0, leaking: 0 };
    for (let seed = 0; seed < PROGRAMS; seed++) {
      const rng = createRng(seed);
      const model = rowProgram(rng, ROWS);
      const prepared = prepare(model, selector);
      const calldata = encodeInput(model.program, selector, { codec: "raw", bytes: rng.bytes(ROWS) });
      const found = leak(prepared, calldata, rng);
      if (!isAccepted(model)) {
        counts.refused++;
        counts.leaking += Number(found !== undefined);
        continue;
      }
      counts.accepted++;
      counts.hanging += Number(programBounds(model, analyse(model).ranges).of.at(-1) !== undefined);
      expect(found, `seed ${seed}`).toBeUndefined();
      const right = execute(prepared, calldata);
      for (let i = 0; i < 3; i++)
        expect(foundFrom(prepared, calldata, outputOf(rng.bytes(ROWS))), `seed ${seed}`).toEqual(right);
    }
    // Both kinds, most of the refused ones for a reason, and accepted ones whose output hangs on what is claimed.
    expect(counts.hanging).toBeGreaterThan(PROGRAMS / 4);
    expect(counts.leaking).toBeGreaterThan(counts.refused / 2);
    expect(counts.accepted + counts.refused).toBe(PROGRAMS);
  });
});
