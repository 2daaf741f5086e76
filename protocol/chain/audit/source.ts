/** The events that an audit reads: those of Assay, the registry and Promises, in chain order. */
import { type Address, isAddressEqual } from "viem";
import type { Deployment } from "../deployment.ts";
import { type ChainEvent, decodeEvents } from "../events.ts";
import type { LogSource } from "../follower.ts";
import { inOrder } from "../history.ts";
import { decodePromiseEvents, type PromiseEvent } from "../promises/events.ts";

export type AuditedEvent = ChainEvent | PromiseEvent;

/** Some events of Assay and Promises have the same names: the contract tells them apart.
 *  @param promises absent: the deployment has none */
export const isPromiseEvent = (event: AuditedEvent, promises: Address | undefined): event is PromiseEvent =>
  promises !== undefined && isAddressEqual(event.contract, promises);

export function auditedSource({
  contracts: { assay, registry, promises },
}: Pick<Deployment, "contracts">): LogSource<AuditedEvent> {
  if (promises === undefined) return { addresses: [assay, registry], decode: decodeEvents };
  return {
    addresses: [assay, registry, promises],
    decode: (logs) => {
      const isOfPromises = ({ address }: { readonly address: Address }) => isAddressEqual(address, promises);
      return inOrder<AuditedEvent>([
        ...decodeEvents(logs.filter((log) => !isOfPromises(log))),
        ...decodePromiseEvents(logs.filter(isOfPromises)),
      ]);
    },
  };
}
