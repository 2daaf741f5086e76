/** A header of 16 fields, as Arbitrum's: one node of three names them so that their bytes stay the same, and the time is
 *  another field. */
import { type Hex, http, numberToHex } from "viem";
import { expect, test } from "vitest";
import type { RpcCall, RpcNode } from "../../../../protocol/chain/quorum/nodes.ts";
import { Quorum } from "../../../../protocol/chain/quorum/transport.ts";
import { startLocalChain } from "../../../support/anvil.ts";

const TIME: Hex = "0x00000000000000000000000000000000000000b1";

test("behavior: the block's time is not the one that a single node makes up", async () => {
  const chain = await startLocalChain({ hardfork: "london", gasLimit: 2 ** 50 });
  try {
    const { client, control } = chain;
    await control.setCode({ address: TIME, bytecode: "0x4260005260206000f3" });
    await control.mine({ blocks: 3 });
    const { hash, timestamp } = await client.getBlock();
    const honest = (call: RpcCall) => http(chain.rpcUrl)({ retryCount: 0 }).request(call as never);
    const raw = (await honest({ method: "eth_getBlockByHash", params: [hash, false] })) as Record<
      string,
      Hex
    >;
    const call: RpcCall = { method: "eth_call", params: [{ to: TIME, data: "0x" }, { blockHash: hash }] };
    const bytes = (q: Hex): Hex => `0x${q.slice(2).length % 2 ? "0" : ""}${q.slice(2)}`;
    const lying = async (asked: RpcCall) => {
      if (asked.method === "eth_call") return numberToHex(2 ** 50, { size: 32 });
      if (asked.method !== "eth_getBlockByHash") return honest(asked);
      return {
        ...raw,
        number: null,
        gasUsed: null,
        baseFeePerGas: null,
        blobGasUsed: null,
        excessBlobGas: null,
        gasLimit: raw.number,
        timestamp: raw.gasLimit,
        extraData: raw.gasUsed === "0x0" ? "0x" : bytes(raw.gasUsed as Hex),
        mixHash: bytes(raw.timestamp as Hex),
        nonce: raw.extraData,
        withdrawalsRoot: raw.mixHash,
        parentBeaconBlockRoot: raw.nonce,
        requestsHash: bytes(raw.baseFeePerGas as Hex),
      };
    };
    const slow = async (asked: RpcCall) => {
      await new Promise((done) => setTimeout(done, 150));
      return honest(asked);
    };
    const node = (name: string, request: (call: RpcCall) => Promise<unknown>): RpcNode => ({ name, request });
    const quorum = new Quorum([node("liar", lying), node("a", slow), node("b", slow)], {
      timeoutMs: 10_000,
      graceMs: 5_000,
    });
    const shown = BigInt((await quorum.request(call)) as Hex);
    expect(shown).toBe(timestamp);
  } finally {
    await chain.stop();
  }
});
