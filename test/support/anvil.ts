/** A chain of its own for a test, with helpers for time and re-orgs. */
import { createTestClient, type Hex, http, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ANVIL_KEYS, type AnvilOptions, startAnvil } from "../../cli/anvil.ts";
import { createClient } from "../../protocol/chain/connect.ts";

export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>;

/** A hang ends a call; a slow machine does not. */
const PATIENCE_MS = 120_000;

/** Starts anvil on a free port; call `stop` when done. */
export async function startLocalChain(options: AnvilOptions = {}) {
  const anvil = await startAnvil(options);
  const client = createClient(anvil.rpcUrl, PATIENCE_MS);
  const transport = http(anvil.rpcUrl, { timeout: PATIENCE_MS });
  const control = createTestClient({ mode: "anvil", transport });
  /** Mines one block at this second, or `seconds` after the last one. */
  const passTime = async (seconds: number) => {
    await control.increaseTime({ seconds });
    await control.mine({ blocks: 1 });
  };
  const now = async () => Number((await client.getBlock()).timestamp);
  /** Goes to 6:00 UTC of the next day, so that what happens from then on is of one day, whenever a test runs. */
  const passNight = async () => {
    const day = 86_400;
    const second = await now();
    await passTime((Math.floor(second / day) + 1) * day + day / 4 - second);
  };
  return { ...anvil, client, control, passTime, passNight, now };
}

/** One of anvil's funded accounts. */
export function accountAt(index: number): LocalAccount {
  return privateKeyToAccount(ANVIL_KEYS[index] as Hex);
}
