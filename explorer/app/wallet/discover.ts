import { useSyncExternalStore } from "react";
import type { EIP1193Provider } from "viem";

/** A wallet of this browser. Its name is a stranger's. */
export interface Wallet {
  readonly id: string;
  readonly name: string;
  readonly provider: EIP1193Provider;
}

interface Announcement extends Event {
  readonly detail?: {
    readonly info?: { readonly uuid?: unknown; readonly name?: unknown };
    readonly provider?: EIP1193Provider;
  };
}

let wallets: readonly Wallet[] = [];
const listeners = new Set<() => void>();
let isListening = false;

function add(wallet: Wallet): void {
  if (wallets.some(({ id, provider }) => id === wallet.id || provider === wallet.provider)) return;
  wallets = [...wallets, wallet];
  for (const listener of listeners) listener();
}

/** Asks wallets to show themselves (EIP-6963); one that does not know that stands at `window.ethereum` (EIP-1193). */
function discover(): void {
  if (isListening) return;
  isListening = true;
  window.addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as Announcement).detail ?? {};
    if (typeof info?.uuid !== "string" || provider === undefined) return;
    add({ id: info.uuid, name: String(info.name), provider });
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  const { ethereum } = window as { ethereum?: EIP1193Provider };
  if (ethereum !== undefined)
    add({ id: "window.ethereum", name: "Wallet of this browser", provider: ethereum });
}

function subscribe(listener: () => void): () => void {
  discover();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useWallets = (): readonly Wallet[] => useSyncExternalStore(subscribe, () => wallets);
