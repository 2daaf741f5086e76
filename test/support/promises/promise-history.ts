/** The events of a game of promises on the contracts, and their audit. */
import type { Address } from "viem";
import { Audit } from "../../../protocol/chain/audit/audit.ts";
import type { AuditedBlock } from "../../../protocol/chain/audit/request-audit.ts";
import type { Breach } from "../../../protocol/chain/audit/rules.ts";
import { type AuditedEvent, auditedSource } from "../../../protocol/chain/audit/source.ts";
import type { PromiseMove } from "../../../protocol/rules/promises/moves.ts";
import type { PromisesState } from "../../../protocol/rules/promises/state.ts";
import type { EvmWorld, Sent } from "../evm-world.ts";

/** An event with what its block says. */
export interface PlacedEvent {
  readonly event: AuditedEvent;
  readonly block: AuditedBlock;
}

export class PromiseHistory {
  readonly events: PlacedEvent[];
  readonly #world: EvmWorld;
  readonly promises: Address;
  readonly #source;

  /** @param registered events of the models */
  constructor(world: EvmWorld, promises: Address, registered: readonly AuditedEvent[]) {
    this.#world = world;
    this.promises = promises;
    this.#source = auditedSource({ contracts: { ...world.contracts, promises } });
    this.events = registered.map((event) => ({ event, block: { timestamp: 1, baseFee: 1n } }));
  }

  readonly record = ({ logs }: Sent, { now: timestamp, baseFee }: PromiseMove): void => {
    for (const event of this.#source.decode(logs)) this.events.push({ event, block: { timestamp, baseFee } });
  };

  /** Audits events as if a chain had told them in this order. */
  audit(events: readonly PlacedEvent[] = this.events): { breach?: Breach | undefined; audit: Audit } {
    const { game, constants } = this.#world;
    const audit = new Audit({ game, constants, promises: this.promises, isWhole: true });
    for (const [logIndex, { event, block }] of events.entries()) {
      const place = { number: 1n, hash: event.block.hash };
      const breach = audit.take({ ...event, block: place, logIndex }, block);
      if (breach !== undefined) return { breach, audit };
    }
    return { breach: audit.end(), audit };
  }
}

/** What a state says, as text: accounts, promises, batches and money. Which key signed no event says. */
export function summaryOf(
  state: Pick<PromisesState, "accounts" | "signed" | "batches" | "credits">,
  burned: bigint,
): string {
  const entries = <Key extends string, Value>(map: ReadonlyMap<Key, Value>, of: (value: Value) => unknown) =>
    [...map].map(([key, value]) => [key, of(value)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    [
      entries(state.accounts, ({ keys, ...account }) => ({ ...account, keys: [...keys].sort() })),
      entries(state.signed, ({ key: _key, ...entry }) => entry),
      entries(state.batches, ({ leaves, ...batch }) => ({ ...batch, leaves: [...leaves].sort() })),
      entries(state.credits, (amount) => amount).filter(([, amount]) => amount !== 0n),
      burned,
    ],
    (_, value) => (typeof value === "bigint" ? `${value}` : value),
    1,
  );
}
