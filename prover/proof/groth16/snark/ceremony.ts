/** A whole ceremony by snarkjs on one machine: powers of tau, then the circuit's own phase. Its one contributor knows
 *  nothing afterwards, if this machine kept nothing: docs/CEREMONY.md says how many do it together. */
import { randomBytes } from "node:crypto";
import { curves, type MemoryFile, powersOfTau, zKey } from "snarkjs";
import { BaseError } from "../../../../base/errors.ts";
import type { R1cs } from "../r1cs.ts";
import { writeR1cs } from "./files.ts";
import { domainPower, type KeyPair } from "./setup.ts";
import { verificationKeyOf } from "./zkey.ts";

/** log2 of the largest domain: 2^14 took a quarter of an hour on two cores. */
const MAX_POWER = 14;

/** @param onProgress called before each stage
 *  @throws BaseError CEREMONY_TOO_LARGE above a domain of 2^14; CEREMONY_FAILED if the result does not verify */
export async function localCeremony(
  r1cs: R1cs,
  onProgress: (stage: string, done: number, of: number) => void = () => undefined,
): Promise<KeyPair> {
  const power = domainPower(r1cs);
  if (power > MAX_POWER) {
    throw new BaseError({
      code: "CEREMONY_TOO_LARGE",
      shortMessage: `The circuit needs a domain of 2^${power}, a local ceremony makes at most 2^${MAX_POWER}.`,
      nextStep: "Take a public file of powers of tau and follow docs/CEREMONY.md.",
      details: { power, limit: MAX_POWER },
    });
  }
  // In memory: snarkjs leaves files open.
  const memory = (): MemoryFile => ({ type: "mem" });
  const [started, contributed, prepared, initial, final] = [memory(), memory(), memory(), memory(), memory()];
  const circuit = writeR1cs(r1cs);
  const entropy = (): string => randomBytes(64).toString("hex");
  let verified = false;
  const stages: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      `powers of tau, 2^${power}`,
      async () => powersOfTau.newAccumulator(await curves.getCurveFromName("bn128"), power, started),
    ],
    ["contribution", () => powersOfTau.contribute(started, contributed, "local", entropy())],
    ["preparation", () => powersOfTau.preparePhase2(contributed, prepared)],
    ["circuit", () => zKey.newZKey(circuit, prepared, initial)],
    ["contribution to the circuit", () => zKey.contribute(initial, final, "local", entropy())],
    [
      "verification",
      async () => {
        verified = await zKey.verifyFromR1cs(circuit, prepared, final);
      },
    ],
  ];
  for (const [i, [stage, run]] of stages.entries()) {
    onProgress(stage, i, stages.length);
    await run();
  }
  if (!verified || final.data === undefined) throw failed();
  return { provingKey: final.data, verificationKey: await verificationKeyOf(final.data) };
}

const failed = (): BaseError =>
  new BaseError({
    code: "CEREMONY_FAILED",
    shortMessage: "snarkjs does not accept the key that the ceremony made.",
    nextStep: "Run it again; if it fails again, report it.",
  });
