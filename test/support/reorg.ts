/** Re-orgs of a system's chain: blocks that go, and others that come instead. */
import type { Hex, LocalAccount } from "viem";
import type { Action } from "../../protocol/chain/actions.ts";
import type { ChainEvent, EventName, EventOf } from "../../protocol/chain/events.ts";
import type { System } from "./system.ts";

/** A transaction that is signed but not sent. */
export async function signed(
  system: System,
  account: LocalAccount,
  action: Action,
  nonce?: number,
): Promise<Hex> {
  const { client, game } = system.chain;
  const { to, data, value } = action;
  return account.signTransaction({
    type: "eip1559",
    chainId: game.chainId,
    to,
    data,
    value,
    gas: 3_000_000n,
    nonce: nonce ?? (await client.getTransactionCount({ address: account.address })),
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
}

/** The first such event that is on the chain, with its block. */
export async function eventWithBlock<Name extends EventName>(
  { events }: System,
  name: Name,
  matches: (args: EventOf<Name>["args"]) => boolean,
): Promise<EventOf<Name>> {
  return events.when(
    () =>
      events.events.find(
        (event): event is EventOf<Name> => event.name === name && matches(event.args as never),
      ),
    () => `There is no such ${name}`,
  );
}

/** Takes back the event's block and all above it. As many blocks come instead, the first with these transactions. Resolves
 *  once the event log has forgotten what is gone.
 *  @param instead raw transactions */
export async function takeBack(
  system: System,
  { block }: Pick<ChainEvent, "block">,
  instead: readonly Hex[] = [],
): Promise<void> {
  const { control, client, events } = system;
  await system.withoutBlocks(async () => {
    const { hash } = await client.getBlock({ blockNumber: block.number });
    if (hash !== block.hash) throw new Error(`Block ${block.number} is gone already.`);
    const depth = Number((await client.getBlockNumber()) - block.number) + 1;
    const params = [depth, instead.map((raw) => [raw, 0])];
    await control.request({ method: "anvil_reorg", params } as never);
  });
  await events.when(
    () => !events.events.some((event) => event.block.hash === block.hash) || undefined,
    () => "The re-org is not seen",
  );
}
