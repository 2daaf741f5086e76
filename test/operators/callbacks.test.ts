/** Callbacks of strangers under a prover that would be paid for delivering to them. */
import { readFileSync } from "node:fs";
import { createWalletClient, getAddress, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { toHex } from "../../base/bytes.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { newRequest } from "../../protocol/chain/new-request.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import { LANE, type Request, type RequestId } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/scale.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const CALLBACK_GAS = 4_000_000;
const SOON = { timeout: 240_000, interval: 100 };
/** Code by what it does with any call. */
const CODE = {
  /** JUMPDEST PUSH0 JUMP: a loop without an end */
  burns: "0x5b5f56",
  /** PUSH3 1 MiB, PUSH0, REVERT */
  revertsLarge: "0x621000005ffd",
  /** the same with RETURN: a success, however much it says */
  returnsLarge: "0x621000005ff3",
  /** GASPRICE ISZERO PUSH1 8 JUMPI PUSH0 PUSH0 REVERT JUMPDEST STOP: content while nobody pays, as in a simulation */
  pretends: "0x3a156008575f5ffd5b00",
  /** PUSH0 SLOAD PUSH1 8 JUMPI PUSH0 PUSH0 REVERT JUMPDEST STOP: as its storage says, whatever its code */
  asStored: "0x5f546008575f5ffd5b00",
  /** STOP */
  content: "0x00",
} as const;

let system: System;
let prover: Daemon;
let seed = 0;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
});
afterAll(() => system?.stop());

/** Deploys a contract whose code is this. */
async function deploy(code: Hex) {
  const length = (code.length - 2) / 2;
  const wallet = createWalletClient({
    account: systemAccount(ROLES.cheat),
    transport: http(system.rpcUrl),
  });
  // PUSH1 length PUSH1 9 PUSH0 CODECOPY PUSH1 length PUSH0 RETURN
  const size = length.toString(16).padStart(2, "0");
  const data = `0x60${size}600a5f3960${size}5ff3${code.slice(2)}` as Hex;
  const hash = await wallet.sendTransaction({ chain: null, data });
  const receipt = await system.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  const address = getAddress(receipt.contractAddress ?? "0x");
  expect(await system.client.getCode({ address })).toBe(code);
  return address;
}

/** A request of the prover's alone, with this callback, that the prover made final. */
async function finalWith(callback: Hex): Promise<{ request: Request; requestId: RequestId }> {
  const model = system.model("sentiment");
  seed += 2;
  const input = toHex(selfTestCalldata(model.model.program, model.selector, seed));
  const { chain, sender } = await requester;
  const terms = { lanes: LANE.BOND, fee: 10n ** 16n };
  const request: Request = {
    ...(await newRequest(chain, chain.account.address, model.modelId as never, input, terms)),
    deliveryFee: 10n ** 18n,
    callback,
    callbackGas: CALLBACK_GAS,
  };
  expect(await sender.send(new Actions(chain.game).request(request, input))).toMatchObject({
    status: "sent",
  });
  const requestId = requestIdOf(chain.game, request);
  await system.events.until("Claimed", (event) => event.requestId === requestId);
  await system.passTime(request.window);
  await system.events.until("Finalized", (event) => event.requestId === requestId);
  return { request, requestId };
}
let requester: ReturnType<System["open"]>;

const linesOf = ({ log }: Daemon, text: string): string[] =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(text));

/** Waits until the chain has this many blocks more: time in which a prover that tries at each of them would. */
async function blocks(count: bigint): Promise<void> {
  const end = (await system.client.getBlockNumber()) + count;
  await vi.waitUntil(async () => (await system.client.getBlockNumber()) >= end, SOON);
}

describe("a callback that", () => {
  beforeAll(async () => {
    requester = system.open("asker", ROLES.cheat + 1);
    prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    await prover.logged("prover is up");
  });
  afterAll(() => prover?.stop());

  test.each(sampled(["burns", "revertsLarge"] as const, 2))(
    "error: %s costs a line, not a transaction",
    async (kind) => {
      const { requestId } = await finalWith(await deploy(CODE[kind]));
      await vi.waitUntil(() => linesOf(prover, `deliver:${requestId}`).length > 0, SOON);
      await blocks(15n);
      const lines = linesOf(prover, `deliver:${requestId}`);
      expect(lines).toHaveLength(1);
      expect(lines.join().length).toBeLessThan(1_000);
      expect(lines.join()).toMatch(kind === "burns" ? /whole gas/ : /reverts/);
      expect(system.events.all("Delivered", (event) => event.requestId === requestId)).toEqual([]);
    },
  );

  test("error: pretends to be content costs one transaction, and is given up", async () => {
    const { requestId } = await finalWith(await deploy(CODE.pretends));
    const deliveries = () => system.events.all("Delivered", (event) => event.requestId === requestId);
    await vi.waitUntil(() => linesOf(prover, "given up").some((line) => line.includes(requestId)), SOON);
    await blocks(12n);
    expect(deliveries().map(({ success }) => success)).toEqual([false]);
    expect(linesOf(prover, requestId).filter((line) => line.includes("given up"))).toHaveLength(1);
  });

  test("behavior: returns 1 MiB is delivered to", async () => {
    const { requestId } = await finalWith(await deploy(CODE.returnsLarge));
    const { success } = await system.events.until("Delivered", (event) => event.requestId === requestId);
    expect(success).toBe(true);
  });
});

describe("assay prover --delivery-tries 1", () => {
  const GIVEN_UP = "a delivery is given up until its callback has other code or `assay deliver` is run";
  let hasty: Daemon;

  beforeAll(async () => {
    hasty = system.daemon("hasty", ROLES.prover, ["prover", "--port", "0", "--delivery-tries", "1"]);
    await hasty.logged("prover is up");
  });
  afterAll(() => hasty?.stop());
  const givenUp = (requestId: RequestId): string[] =>
    linesOf(hasty, GIVEN_UP).filter((line) => line.includes(requestId));

  test("behavior: gives up once, and delivers when the callback has other code", async () => {
    const callback = await deploy(CODE.revertsLarge);
    const { requestId } = await finalWith(callback);
    await vi.waitUntil(() => givenUp(requestId).length > 0, SOON);
    await blocks(12n);
    expect(givenUp(requestId)).toHaveLength(1);
    expect(JSON.parse(givenUp(requestId)[0] as string)).toMatchObject({
      callback,
      failures: 1,
      reason: `the callback ${callback} reverts`,
    });
    expect(system.events.all("Delivered", (event) => event.requestId === requestId)).toEqual([]);
    await system.control.setCode({ address: callback, bytecode: CODE.content });
    const { success } = await system.events.until("Delivered", (event) => event.requestId === requestId);
    expect(success).toBe(true);
  });

  longTest(
    "behavior: `assay deliver` by the control socket has the running prover try what it gave up",
    async () => {
      const callback = await deploy(CODE.asStored);
      const { requestId } = await finalWith(callback);
      await vi.waitUntil(() => givenUp(requestId).length > 0, SOON);
      const env = {
        ASSAY_RPC_URL: system.rpcUrl,
        ASSAY_DEPLOYMENT: `${system.folder}/deployment.json`,
        ASSAY_DATA: `${system.folder}/hasty`,
        ASSAY_KEY: keyOf(ROLES.prover),
      };
      const set = { address: callback, index: 0, value: `0x${"01".padStart(64, "0")}` } as const;
      await system.control.setStorageAt(set);
      await blocks(12n);
      // Its code is the same: the prover does not know.
      expect(system.events.all("Delivered", (event) => event.requestId === requestId)).toEqual([]);
      expect(await runInProcess(["deliver", requestId], env)).toEqual({
        code: 0,
        stdout: "The running prover tries it again; its log says what comes of it.\n",
        stderr: "",
      });
      const { success, by } = await system.events.until(
        "Delivered",
        (event) => event.requestId === requestId,
      );
      expect([success, by]).toEqual([true, systemAccount(ROLES.prover).address]);
      const other = `0x${"00".repeat(32)}`;
      expect(await runInProcess(["deliver", other], env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`The running prover has no failed delivery of request "${other}".`),
      });
    },
  );

  test("behavior: `assay deliver` says why it cannot, and delivers what the prover gave up", async () => {
    const callback = await deploy(CODE.burns);
    const { requestId } = await finalWith(callback);
    await vi.waitUntil(() => givenUp(requestId).length > 0, SOON);
    const deliver = () =>
      runInProcess(["deliver", requestId, "--json"], {
        ASSAY_RPC_URL: system.rpcUrl,
        ASSAY_DEPLOYMENT: `${system.folder}/deployment.json`,
        ASSAY_DATA: `${system.folder}/courier`,
        ASSAY_KEY: keyOf(ROLES.cheat + 2),
        ASSAY_POLL_INTERVAL_MS: "50",
      });
    const refused = await deliver();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("uses its whole gas")]);
    await system.control.setCode({ address: callback, bytecode: CODE.content });
    const delivered = await deliver();
    // The prover sees the new code too: whoever is first is paid.
    expect(delivered).toMatchObject({ code: 0 });
  });
});
