import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Hex, parseTransaction, type TransactionSerializableEIP1559 } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadAccount } from "../../../protocol/chain/account.ts";
import { remoteAccount } from "../../../protocol/chain/remote-signer.ts";
import { broadcast, sign } from "../../../protocol/chain/transactions.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";

const OWN = accountAt(1);
const OTHER = accountAt(2);
const ASKED = {
  type: "eip1559",
  chainId: 31_337,
  nonce: 3,
  to: OTHER.address,
  value: 5n,
  data: "0x1234",
  gas: 50_000n,
  maxFeePerGas: 10n ** 10n,
  maxPriorityFeePerGas: 10n ** 9n,
} as const satisfies TransactionSerializableEIP1559;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A signer that answers what it is told to. @param answer absent: never */
async function signer(answer?: (params: unknown) => Promise<unknown> | unknown) {
  const server = createServer((request, response) => {
    void json(request).then(async (body) => {
      if (answer !== undefined)
        response.end(JSON.stringify(await answer((body as { params: unknown[] }).params[0])));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?token=hidden`;
  return remoteAccount({ url, address: OWN.address, timeoutMs: answer === undefined ? 200 : 60_000 });
}
const failure = async (signing: Promise<Hex>) => {
  const error = await signing.then(
    () => undefined,
    (thrown: { code: string; message: string }) => thrown,
  );
  expect(error?.message).not.toContain("hidden");
  return error?.code;
};

describe("remoteAccount", () => {
  test.each([
    ["the bytes, as Web3Signer does", (raw: Hex): unknown => raw],
    ["an object, as geth does", (raw: Hex): unknown => ({ raw, tx: {} })],
  ])("default: a signer that answers %s", async (_what, form) => {
    const account = await signer(async () => ({ result: form(await OWN.signTransaction(ASKED)) }));
    expect(parseTransaction(await account.signTransaction(ASKED))).toMatchObject({
      ...ASKED,
      to: ASKED.to.toLowerCase(),
    });
  });

  const changes: [string, Partial<TransactionSerializableEIP1559>][] = [
    ["chainId", { chainId: 1 }],
    ["nonce", { nonce: 4 }],
    ["to", { to: OWN.address }],
    ["value", { value: 6n }],
    ["data", { data: "0x1235" }],
    ["gas", { gas: 50_001n }],
    ["maxFeePerGas", { maxFeePerGas: 10n ** 11n }],
    ["maxPriorityFeePerGas", { maxPriorityFeePerGas: 0n }],
    ["access list", { accessList: [{ address: OWN.address, storageKeys: [] }] }],
  ];
  test.each(changes)("error: a signer that changes the %s", async (_name, change) => {
    const account = await signer(async () => ({
      result: await OWN.signTransaction({ ...ASKED, ...change }),
    }));
    expect(await failure(account.signTransaction(ASKED))).toBe("SIGNER_ANSWER_WRONG");
  });

  test("error: a signer that signs with another key, or not at all", async () => {
    const foreign = await signer(async () => ({ result: await OTHER.signTransaction(ASKED) }));
    expect(await failure(foreign.signTransaction(ASKED))).toBe("SIGNER_ANSWER_WRONG");
    for (const result of ["0x", "0x02c0", "signed", 7, { raw: 7 }, []]) {
      expect(await failure((await signer(() => ({ result }))).signTransaction(ASKED))).toBe(
        "SIGNER_ANSWER_WRONG",
      );
    }
  });

  test("error: one that refuses, is silent, speaks nonsense or is not there", async () => {
    const refusing = await signer(() => ({ error: { message: "not by my rules" } }));
    expect(await failure(refusing.signTransaction(ASKED))).toBe("SIGNER_REFUSED");
    expect(await failure((await signer()).signTransaction(ASKED))).toBe("SIGNER_UNREACHABLE");
    expect(await failure((await signer(() => undefined)).signTransaction(ASKED))).toBe("SIGNER_UNREACHABLE");
    const absent = remoteAccount({ url: "http://127.0.0.1:9/", address: OWN.address });
    expect(await failure(absent.signTransaction(ASKED))).toBe("SIGNER_UNREACHABLE");
  });

  test("error: what is no EIP-1559 transaction", async () => {
    const account = await signer();
    expect(await failure(account.signMessage({ message: "x" }))).toBe("SIGNER_UNSUPPORTED");
    expect(await failure(account.signTransaction({ ...ASKED, type: "legacy" } as never))).toBe(
      "SIGNER_UNSUPPORTED",
    );
  });
});

describe("loadAccount with a signer", () => {
  let local: LocalChain;
  beforeAll(async () => {
    local = await startLocalChain();
  });
  afterAll(() => local?.stop());

  test("default: anvil holds the key, signs, and takes what was signed", async () => {
    const account = loadAccount({ signer: local.rpcUrl, signerAddress: OWN.address }, {});
    if (account === undefined) throw new Error("no account");
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
    const content = { to: OTHER.address, data: "0x1234", value: 5n, gas: 50_000n, nonce: 0 } as const;
    const { raw, hash } = await sign(account, 31_337, content, fees, 0);
    await broadcast(local.client, raw, "transfer");
    const receipt = await local.client.waitForTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: "success", from: OWN.address.toLowerCase() });
  });

  test("error: an address is needed; a key in the environment wins", () => {
    expect(() => loadAccount({ signer: local.rpcUrl }, {})).toThrow("not whose key");
    const key = `0x${"00".repeat(31)}07`;
    const account = loadAccount({ signer: local.rpcUrl, signerAddress: OWN.address }, { ASSAY_KEY: key });
    expect(account?.address).not.toBe(OWN.address);
  });
});
