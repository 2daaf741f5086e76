/** A signed claim in a file, and its comparison with what this machine computes. */
import { fromHex } from "../../base/bytes.ts";
import { parseObject } from "../../base/json.ts";
import { compare, type Verdict } from "../../challenger/reexecute.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { type Presented, parsePresented } from "../../protocol/rules/promises/presented.ts";
import { type Digest, digestOf } from "../../protocol/rules/promises/signed-claim.ts";
import { couldNotCheck, withCovered } from "../challenger/covered.ts";
import type { Setup } from "../challenger/machine.ts";
import { readNamedFile } from "../named-file.ts";

export interface PresentedFile {
  readonly presented: Presented;
  readonly digest: Digest;
}

/** @param path of a signed claim, or of an answer over HTTP that has one
 *  @throws BaseError FILE_UNREADABLE, JSON_INVALID; as parsePresented */
export function readPresented({ deployment }: Chain, path: string): PresentedFile {
  const at = promisesOf(deployment);
  const held = parseObject(
    readNamedFile(path, "Name the file of a signed claim, as the prover answered it."),
  );
  const presented = parsePresented(at, held.signedClaim ?? held);
  return { presented, digest: digestOf(at, presented.claim) };
}

/** Compares it as the daemon does.
 *  @throws BaseError MODEL_NOT_HERE, COULD_NOT_CHECK (retryable) */
export const compareFile = (setup: Setup, { presented, digest }: PresentedFile) =>
  withCovered(
    setup,
    presented.claim.modelId,
    async ({ covered, engines }): Promise<Exclude<Verdict, { kind: "could-not-check" }>> => {
      const [input, output] = [fromHex(presented.input), fromHex(presented.output)];
      const verdict = await compare(covered, { input, output, facts: { promise: digest } }, engines);
      if (verdict.kind === "could-not-check") throw couldNotCheck(`Signed claim ${digest}`, verdict.reason);
      return verdict;
    },
  );
