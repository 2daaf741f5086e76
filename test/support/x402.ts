/** Payments by x402 on a local chain: a token, the contracts that move it, and a facilitator of the official packages. */
import { x402Client, x402HTTPClient } from "@x402/core/client";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { PERMIT2_ADDRESS, toFacilitatorEvmSigner, x402UptoPermit2ProxyAddress } from "@x402/evm";
import { UptoEvmScheme as UptoClient } from "@x402/evm/upto/client";
import { UptoEvmScheme as UptoFacilitator } from "@x402/evm/upto/facilitator";
import { wrapFetchWithPayment } from "@x402/fetch";
import express from "express";
import { type Address, createWalletClient, type Hex, http, type LocalAccount, publicActions } from "viem";
import { type Bought, boundScheme, checkedFetch } from "../../agent/sdk/adapters/x402.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { listen } from "../../protocol/service/http/listen.ts";
import { ensureCompiled } from "../../tools/compile.ts";
import type { LocalChain } from "./anvil.ts";

export type PaymentSystem = Awaited<ReturnType<typeof startPayments>>;

/** Starts a facilitator, and gives the payer tokens that the transfer contract may move; call `stop` when done. */
export async function startPayments(
  { rpcUrl, client, control }: Pick<LocalChain, "rpcUrl" | "client" | "control">,
  payer: LocalAccount,
  operator: LocalAccount,
) {
  ensureCompiled("all");
  const network = `eip155:${await client.getChainId()}` as const;
  const walletOf = (account: LocalAccount) => createWalletClient({ account, transport: http(rpcUrl) });
  const create = async (bytecode: Hex, abi: readonly unknown[] = [], args: readonly unknown[] = []) => {
    const hash = await walletOf(operator).deployContract({ abi, bytecode, args, chain: null });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
    return contractAddress as Address;
  };
  // The packages name both contracts by their addresses on public chains.
  for (const [name, address] of [
    ["Permit2", PERMIT2_ADDRESS],
    ["UptoPermit2Proxy", x402UptoPermit2ProxyAddress],
  ] as const) {
    const copy = await create(loadArtifact(name).bytecode);
    await control.setCode({ address, bytecode: (await client.getCode({ address: copy })) ?? "0x" });
  }
  const { abi, bytecode } = loadArtifact("LocalToken");
  const asset = await create(bytecode, abi, ["Local Dollar", "LUSD", payer.address, 1_000_000n]);
  const call = async (account: LocalAccount, functionName: string, args: readonly unknown[]) => {
    const hash = await walletOf(account).writeContract({
      address: asset,
      abi,
      functionName,
      args,
      chain: null,
    });
    await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  };
  /** What a payer does, by the official client. @param bought by the SDK's scheme, which names the order; absent: bound to nothing */
  const as = async (account: LocalAccount, bought?: Bought) => {
    const approve = (amount: bigint) => call(account, "approve", [PERMIT2_ADDRESS, amount]);
    await approve(1_000_000n);
    const make = (signer: LocalAccount) => new UptoClient(signer);
    const scheme = bought === undefined ? make(account) : boundScheme(make, account);
    const paying = new x402Client().register(network, scheme).setSpendControls(false);
    return {
      /** lets the transfer contract move tokens */
      approve,
      /** gives tokens away */
      transfer: (to: Address, amount: bigint) => call(account, "transfer", [to, amount]),
      /** fetch that pays what is asked */
      fetch: wrapFetchWithPayment(
        bought === undefined ? fetch : checkedFetch(bought),
        paying,
      ) as typeof fetch,
      /** the header that pays what an answer asks for */
      sign: async (asking: Response): Promise<Record<string, string>> => {
        const client = new x402HTTPClient(paying);
        const required = client.getPaymentRequiredResponse((name) => asking.headers.get(name), undefined);
        return client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
      },
    };
  };
  const server = await startFacilitator(rpcUrl, operator, network);
  return {
    ...(await as(payer)),
    as,
    /** tokens of the payer's for somebody else */
    give: (to: Address, amount: bigint) => call(payer, "transfer", [to, amount]),
    asset,
    network,
    facilitatorUrl: server.url,
    /** what somebody holds of the token */
    balanceOf: (owner: Address) =>
      client.readContract({
        address: asset,
        abi,
        functionName: "balanceOf",
        args: [owner],
      }) as Promise<bigint>,
    stop: () => server.close(),
  };
}

/** The official facilitator behind its three routes. */
async function startFacilitator(rpcUrl: string, account: LocalAccount, network: `eip155:${number}`) {
  const wallet = createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 50 }).extend(
    publicActions,
  );
  const signer = toFacilitatorEvmSigner({ ...wallet, address: account.address } as never);
  const facilitator = new x402Facilitator().register(network, new UptoFacilitator(signer));
  const app = express();
  app.use(express.json());
  const bodyOf = (request: express.Request) =>
    request.body as { paymentPayload: PaymentPayload; paymentRequirements: PaymentRequirements };
  app.get("/supported", (_request, response) => void response.json(facilitator.getSupported()));
  app.post("/verify", async (request, response) => {
    const { paymentPayload, paymentRequirements } = bodyOf(request);
    response.json(await facilitator.verify(paymentPayload, paymentRequirements));
  });
  app.post("/settle", async (request, response) => {
    const { paymentPayload, paymentRequirements } = bodyOf(request);
    response.json(await facilitator.settle(paymentPayload, paymentRequirements));
  });
  return listen(app, "127.0.0.1", 0);
}
