/** An agent on a local chain that asks for the tiny model through the SDK, and what others do there. */
import { createWalletClient, type Hex, http } from "viem";
import { afterAll, beforeAll } from "vitest";
import {
  type Asked,
  type Final,
  type Model,
  openModel,
  request,
  type Terms,
  wait,
} from "../../agent/sdk/index.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { candidateOf } from "../../protocol/chain/finality.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "./anvil.ts";
import { bytesOutput, claimOutput } from "./claims.ts";
import { openLocalSystem, TINY_IDENTITY, TINY_MODEL } from "./deploy.ts";

export const DATA = "0x01020304";
export const FEE = 1_000n;
export const QUICK = { pollIntervalMs: 20 } as const;
const never = new AbortController().signal;

export let local: LocalChain;
export let system: Awaited<ReturnType<typeof openLocalSystem>>;
export let wallet: ReturnType<typeof createWalletClient>;
/** in the lanes EXECUTION and BOND */
export let model: Model;

/** Called once by each test file: what this module exports is set before the first of its tests runs. */
export function openLocalSdk(): void {
  beforeAll(async () => {
    local = await startLocalChain();
    system = await openLocalSystem(local);
    wallet = createWalletClient({ account: accountAt(2), transport: http(local.rpcUrl) });
    const { modelId } = await registerModel(system.chain, system.sender, encodeProgram(TINY_MODEL.program), {
      ...TINY_IDENTITY,
      lanes: LANE.BOND | LANE.EXECUTION,
    });
    model = await openModel(system.chain, modelId);
  });
  afterAll(async () => {
    await system?.close();
    await local?.stop();
  });
}

export const ask = (data: Hex = DATA, terms: Partial<Terms> = {}): Promise<Asked> =>
  request(system.chain, wallet, model, { data }, { fee: FEE, ...terms });
export const claim = ({ request: asked }: Asked, data: Hex = DATA) =>
  claimOutput(system.chain, system.sender, asked, bytesOutput(data));
export const waitFor = (asked: Asked, signal = never) => wait(system.chain, asked, { ...QUICK, signal });
/** A final output of the BOND lane, whose finality nobody has booked. */
export async function bonded(terms: Partial<Terms> = {}): Promise<{ asked: Asked; final: Final }> {
  const asked = await ask(DATA, terms);
  await claim(asked);
  await local.passTime(asked.request.window + 1);
  return { asked, final: await waitFor(asked) };
}
export const settle = ({ request: asked, input }: Asked, of?: Final["claim"]) =>
  system.sender.send(
    new Actions(system.chain.game).settle(asked, of, LANE.EXECUTION, input, bytesOutput(DATA), "0x"),
  );

/** The claim on a request, by its events. */
export async function pendingClaim(asked: Asked): Promise<{ claim?: NonNullable<Final["claim"]> }> {
  const found = candidateOf(await historyOf(system.chain, asked.requestId))?.claim?.terms;
  return found === undefined ? {} : { claim: found };
}
