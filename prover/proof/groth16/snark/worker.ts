/** A child process that proves and verifies with snarkjs, one after the other. Its parent may kill it at any time. */
import { readFileSync } from "node:fs";
import type { Groth16Proof, VerificationKey } from "../../../../protocol/rules/proof/groth16.ts";
import { prove, verify } from "./snarkjs.ts";

export type ToWorker =
  | { readonly kind: "prove"; readonly provingKey: string; readonly witness: Uint8Array }
  | {
      readonly kind: "verify";
      readonly key: VerificationKey;
      readonly signals: readonly bigint[];
      readonly proof: Groth16Proof;
    };

export type FromWorker =
  | { readonly proof: Groth16Proof }
  | { readonly verified: boolean }
  | { readonly failure: string };

async function answer(message: ToWorker): Promise<FromWorker> {
  try {
    if (message.kind === "prove") {
      const provingKey = new Uint8Array(readFileSync(message.provingKey));
      return { proof: await prove(provingKey, message.witness) };
    }
    return { verified: await verify(message.key, message.signals, message.proof) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

// Only as a child: the parent's types come from here, too.
if (process.send !== undefined) {
  process.on("message", (message: ToWorker) => {
    void answer(message).then((result) => process.send?.(result));
  });
  process.on("disconnect", () => process.exit(0));
}
