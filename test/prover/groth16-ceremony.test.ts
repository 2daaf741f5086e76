import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { decodeKey, isDevelopmentKey } from "../../protocol/rules/proof/groth16.ts";
import { localCeremony } from "../../prover/proof/groth16/snark/ceremony.ts";
import { SnarkjsProver } from "../../prover/proof/groth16/snark/prover.ts";
import { endThreads } from "../../prover/proof/groth16/snark/snarkjs.ts";
import { isDevelopmentZkey } from "../../prover/proof/groth16/snark/zkey.ts";
import { SMALL_CIRCUIT, smallWitness } from "../support/small-circuit.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-ceremony-test-"));
const prover = new SnarkjsProver();
afterAll(async () => {
  prover.close();
  rmSync(folder, { recursive: true });
  await endThreads();
});

describe("localCeremony", () => {
  test("default: from powers of tau to a proof that verifies", async () => {
    const stages: string[] = [];
    const keys = await localCeremony(SMALL_CIRCUIT, (stage) => stages.push(stage));
    expect(stages).toMatchInlineSnapshot(`
      [
        "powers of tau, 2^3",
        "contribution",
        "preparation",
        "circuit",
        "contribution to the circuit",
        "verification",
      ]
    `);
    expect(isDevelopmentZkey(keys.provingKey)).toBe(false);
    expect(isDevelopmentKey(keys.verificationKey)).toBe(false);
    const path = join(folder, "small.zkey");
    writeFileSync(path, keys.provingKey);
    const witness = smallWitness(3n, 9n);
    const proof = await prover.prove(path, witness);
    const key = decodeKey(keys.verificationKey);
    expect(await prover.verify(key, witness.slice(1, 4), proof)).toBe(true);
    expect(await prover.verify(key, [3n, 10n, witness[3] as bigint], proof)).toBe(false);
  });

  test("error: a circuit too large for one machine", async () => {
    const constraints = new Array(2 ** 14).fill(SMALL_CIRCUIT.constraints[0]);
    await expect(localCeremony({ ...SMALL_CIRCUIT, constraints })).rejects.toThrow(
      "The circuit needs a domain of 2^15, a local ceremony makes at most 2^14.",
    );
  });
});
