/** A wallet in a page, as an extension puts one there (EIP-1193, announced by EIP-6963): it signs with a key and sends to a
 *  node. What its owner does is decided by the test. */
import type { Page } from "playwright-core";
import { createWalletClient, type Hex, http, keccak256, type LocalAccount, numberToHex } from "viem";

/** What the owner does with a transaction; `lose`: it is signed and its hash told, and no node ever has it. */
export type Answer = "sign" | "reject" | "lose";

export interface InjectedWallet {
  /** decides about each transaction, from 0 on */
  decide: (index: number) => Answer;
  /** chain that the wallet is switched to */
  chainId: number;
  /** transactions that were asked for */
  readonly asked: number;
  /** methods that the page asked for */
  readonly methods: ReadonlySet<string>;
}

interface InjectedOptions {
  readonly rpcUrl: string;
  readonly account: LocalAccount;
  readonly chainId: number;
  /** as the wallet calls itself; absent: it stands at window.ethereum and announces nothing */
  readonly name?: string;
}

interface RpcRequest {
  readonly method: string;
  readonly params?: readonly unknown[];
}
interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
interface Transaction {
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: Hex;
  readonly gas?: Hex;
}

/** The wallet itself, which answers as a provider does: a result, or an error as a node or a wallet has it. */
export function openWallet(options: Omit<InjectedOptions, "name">) {
  const { rpcUrl, account } = options;
  const client = createWalletClient({ account, transport: http(rpcUrl) });
  const methods = new Set<string>();
  const wallet = { decide: (_index: number): Answer => "sign", chainId: options.chainId, asked: 0, methods };
  const ask = async ({ method, params = [] }: RpcRequest): Promise<RpcAnswer> => {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return (await response.json()) as RpcAnswer;
  };
  const send = async ({ to, data, value = "0x0", gas }: Transaction): Promise<RpcAnswer> => {
    const decision = wallet.decide(wallet.asked++);
    if (decision === "reject") return { error: { code: 4001, message: "User rejected the request." } };
    const request = await client.prepareTransactionRequest({
      ...{ to, data, value: BigInt(value), chain: null },
      ...(gas === undefined ? {} : { gas: BigInt(gas) }),
    });
    const raw = await account.signTransaction({ ...request, chainId: options.chainId } as never);
    return decision === "lose"
      ? { result: keccak256(raw) }
      : ask({ method: "eth_sendRawTransaction", params: [raw] });
  };
  const answer = async (request: RpcRequest): Promise<RpcAnswer> => {
    const { method, params = [] } = request;
    methods.add(method);
    if (method === "eth_requestAccounts" || method === "eth_accounts") return { result: [account.address] };
    if (method === "eth_chainId") return { result: numberToHex(wallet.chainId) };
    if (method === "wallet_switchEthereumChain") {
      wallet.chainId = Number((params[0] as { chainId: Hex }).chainId);
      return { result: null };
    }
    return method === "eth_sendTransaction" ? send(params[0] as Transaction) : ask(request);
  };
  return { wallet: wallet as InjectedWallet, answer };
}

/** Puts a wallet into every document that the page loads from now on. */
export async function injectWallet(page: Page, options: InjectedOptions): Promise<InjectedWallet> {
  const { wallet, answer } = openWallet(options);
  await page.exposeFunction("askInjectedWallet", answer);
  await page.addInitScript(`(${PROVIDER})(${JSON.stringify(options.name)})`);
  return wallet;
}

/** Runs in the page. */
const PROVIDER = `(name) => {
  const provider = {
    request: async (request) => {
      const { result, error } = await window.askInjectedWallet(JSON.parse(JSON.stringify(request)));
      if (error === undefined) return result;
      throw Object.assign(new Error(error.message), error);
    },
    on: () => undefined,
    removeListener: () => undefined,
  };
  if (name === undefined) {
    window.ethereum = provider;
    return;
  }
  const info = { uuid: "5a1f3b52-5f3e-4f5e-9d0e-1d2c3b4a5968", name, icon: "data:,", rdns: "test.wallet" };
  const announce = () => {
    const detail = Object.freeze({ info, provider });
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  };
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
}`;
