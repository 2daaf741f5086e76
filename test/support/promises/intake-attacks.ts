/** What POST /v1/signed-claims of a challenger refuses by name, each as somebody who attacks it would hand it over. */
import type { LocalAccount } from "viem";
import { type Presented, renderPresented } from "../../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { accountAt } from "../anvil.ts";
import { hashOf } from "../batches.ts";
import { tinyInput } from "../deploy.ts";
import { signTiny, tinyOutput } from "./local-promises.ts";
import type { PromiseChallenger } from "./promise-challenger.ts";

export interface IntakeAttack {
  readonly name: string;
  /** @returns the body */
  readonly make: () => Promise<unknown>;
  readonly status: number;
  readonly code: string;
  readonly message: RegExp;
}

export const WRONG = tinyOutput(tinyInput([9, 9, 9, 9]));

/** @param prover whose stake is there and whose key is bound
 *  @param game asked where an attack is made: not before it is open */
export function intakeAttacks(game: () => PromiseChallenger, prover: LocalAccount): readonly IntakeAttack[] {
  const seen = () => seenBy(game());
  const sign = (byte: number, changes: Parameters<typeof signTiny>[5] = {}, account = prover) =>
    signTiny(game().chain, account, game().system.modelId, [byte, 1, 2, 3], seen(), changes);
  const render = (presented: Presented) => renderPresented(game().at, presented);
  const renders = (change: (json: ReturnType<typeof renderPresented>) => unknown) => async () =>
    change(render(await sign(3, { output: WRONG })));
  const rows: readonly (readonly [string, () => Promise<unknown>, number, string, RegExp])[] = [
    ["no JSON", async () => "{", 400, "JSON_INVALID", /./],
    ["an array", async () => [], 400, "JSON_INVALID", /array/],
    ["nothing in it", async () => ({}), 400, "SIGNED_CLAIM_INVALID", /chainId/],
    ["a field more", renders((json) => ({ ...json, more: 1 })), 400, "SIGNED_CLAIM_INVALID", /more/],
    [
      "a short signature",
      renders((json) => ({ ...json, signature: json.signature.slice(0, -2) })),
      400,
      "SIGNED_CLAIM_INVALID",
      /65 bytes/,
    ],
    [
      "an amount as a number",
      renders((json) => ({ ...json, claim: { ...json.claim, minBond: 5 } })),
      400,
      "SIGNED_CLAIM_INVALID",
      /minBond/,
    ],
    [
      "another chain",
      renders((json) => ({ ...json, chainId: 1 })),
      400,
      "SIGNED_CLAIM_ELSEWHERE",
      /chain 1, not .* chain 31337/,
    ],
    [
      "another contract",
      renders((json) => ({ ...json, promises: prover.address })),
      400,
      "SIGNED_CLAIM_ELSEWHERE",
      /not for/,
    ],
    [
      "another input",
      renders((json) => ({ ...json, input: `${json.input}00` })),
      400,
      "INPUT_MISMATCH",
      /hash/,
    ],
    ["another output", renders((json) => ({ ...json, output: "0x00" })), 400, "OUTPUT_MISMATCH", /hash/],
    [
      "an input that no transaction holds",
      renders((json) => ({ ...json, input: `0x${"00".repeat(90_001)}` })),
      400,
      "SIGNED_CLAIM_INVALID",
      /input/,
    ],
    [
      "input and output that no transaction holds",
      renders((json) => ({ ...json, input: `0x${"00".repeat(60_000)}`, output: `0x${"00".repeat(30_001)}` })),
      413,
      "SIGNED_CLAIM_TOO_LARGE",
      /90001 .* 90000/,
    ],
    [
      "a body that is larger still",
      async () => `{"a":"${"0".repeat(200_000)}"}`,
      413,
      "BODY_TOO_LARGE",
      /184096/,
    ],
    [
      "a v of another form",
      renders((json) => ({ ...json, signature: `${json.signature.slice(0, -2)}01` })),
      400,
      "SIGNATURE_INVALID",
      /its v is 1/,
    ],
    [
      "the twin of a signature",
      renders((json) => ({ ...json, signature: twinOf(json.signature) })),
      400,
      "SIGNATURE_INVALID",
      /half/,
    ],
    [
      "a model that nobody here has",
      async () => render(await sign(4, { modelId: hashOf(77) as ModelId })),
      404,
      "MODEL_NOT_SERVED",
      /0x0+4d/,
    ],
    [
      "its end has passed",
      async () => render(await sign(5, { expiry: seen() - 9 })),
      409,
      "SIGNED_CLAIM_EXPIRED",
      /until \d+, it is \d+/,
    ],
    [
      "a day after it was issued",
      async () => render(await sign(5, { issuedAt: seen() - 86_500 })),
      409,
      "SIGNED_CLAIM_EXPIRED",
      /until/,
    ],
    [
      "it is postdated",
      async () => render(await sign(6, { issuedAt: seen() + 999 })),
      409,
      "SIGNED_CLAIM_EARLY",
      /issued at/,
    ],
    [
      "a key that binds nobody",
      async () => render(await sign(7, { output: WRONG, key: accountAt(9) })),
      409,
      "SIGNED_CLAIM_REFUSED",
      /SignerNotBound/,
    ],
    [
      "an output of another length",
      async () => render(await sign(8, { output: "0x00" })),
      409,
      "SIGNED_CLAIM_REFUSED",
      /OutputLengthWrong.*96/,
    ],
    [
      "a prover without a stake",
      async () => render(await sign(11, { output: WRONG }, accountAt(8))),
      409,
      "STAKE_TOO_LOW",
      /is 0 ether, and the least bond/,
    ],
    [
      "a forged signature for what another contract opened",
      async () => {
        const wrong = await sign(12, { output: WRONG });
        game().running.store.addSigned({
          ...{ kind: "signed", digest: digestOf(game().at, wrong.claim) },
          presented: { ...wrong, signature: "0x" },
        });
        return render(await sign(12, { ...wrong.claim, output: WRONG, key: accountAt(9) }));
      },
      409,
      "SIGNED_CLAIM_REFUSED",
      /binds 0x\w+ until 0/,
    ],
  ];
  return rows.map(([name, make, status, code, message]) => ({ name, make, status, code, message }));
}

/** Time of the block that the challenger saw last. */
export function seenBy({ running }: PromiseChallenger): number {
  const { head } = running.watch;
  if (head === undefined) throw new Error("no block was seen");
  return head.timestamp;
}

/** The other signature of the same key for the same digest. */
function twinOf(signature: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0");
  return `${signature.slice(0, 66)}${s}${signature.endsWith("1b") ? "1c" : "1b"}`;
}
