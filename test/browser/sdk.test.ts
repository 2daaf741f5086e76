import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { renderDeployment } from "../../protocol/chain/deployment.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { bundleForBrowser } from "../support/browser-bundle.ts";
import { startChromium } from "../support/chromium.ts";
import { bytesOutput, claimOutput } from "../support/claims.ts";
import { openLocalSystem } from "../support/deploy.ts";
import { EventLog } from "../support/event-log.ts";

const DATA = "0x0a0b0c0d";
/** Everything that the page has. */
const MODULE = `
  import * as sdk from "./agent/sdk/index.ts";
  import { createWalletClient, http } from "viem";
  import { privateKeyToAccount } from "viem/accounts";
  globalThis.assay = { ...sdk, createWalletClient, http, privateKeyToAccount };
`;
/** Runs in the page: asks, waits, makes the receipt. */
const ASK = `async ({ rpcUrl, deployment, key, modelId, data }) => {
  const { connect, parseDeployment, openModel, request, wait, receiptOf, renderReceipt, policyOf } = assay;
  const { createWalletClient, http, privateKeyToAccount } = assay;
  const chain = await connect({ rpcUrl, deployment: parseDeployment(deployment, "deployment") });
  const wallet = createWalletClient({ account: privateKeyToAccount(key), transport: http(rpcUrl) });
  const model = await openModel(chain, modelId);
  const asked = await request(chain, wallet, model, { data }, { fee: 1000n });
  const final = await wait(chain, asked, { pollIntervalMs: 50 });
  globalThis.policy = policyOf(asked);
  globalThis.trust = { ...chain.game, ...chain.constants, blockHash: final.block.hash };
  return { values: final.values, receipt: renderReceipt(await receiptOf(chain, asked, final)) };
}`;
/** Runs in the page, which then has no network. */
const VERIFY = `(text) => {
  const verdict = assay.verifyReceipt(assay.parseReceipt(text), trust, policy);
  return verdict.valid ? verdict.output : verdict.error.code;
}`;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let events: EventLog;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  events = new EventLog(system.chain);
  browser = await startChromium();
  page = await browser.newPage();
  const { code } = await bundleForBrowser(MODULE);
  await page.addScriptTag({ type: "module", content: code });
  await page.waitForFunction("globalThis.assay !== undefined");
});
afterAll(async () => {
  await browser?.close();
  await events?.stop();
  await system?.close();
  await local?.stop();
});

describe("assay/sdk in a browser", () => {
  it("default: asks, waits, and verifies the receipt offline", async () => {
    const asking = page.evaluate(
      `(${ASK})(${JSON.stringify({
        rpcUrl: local.rpcUrl,
        deployment: renderDeployment(system.deployment),
        key: ANVIL_KEYS[2],
        modelId: system.modelId,
        data: DATA,
      })})`,
    ) as Promise<{ values: unknown; receipt: string }>;
    const { requestId } = await events.until("Requested");
    const asked = events.events.find(({ name }) => name === "Requested");
    if (asked?.name !== "Requested") throw new Error(`Request ${requestId} is gone.`);
    expect(asked.args.request.requester).toBe(accountAt(2).address);
    await claimOutput(system.chain, system.sender, asked.args.request, bytesOutput(DATA));
    await local.passTime(asked.args.request.window + 1);
    const { values, receipt } = await asking;
    expect(values).toEqual({ output: DATA });

    await page.context().setOffline(true);
    const verify = (text: string) => page.evaluate(`(${VERIFY})(${JSON.stringify(text)})`);
    expect(await verify(receipt)).toBe(bytesOutput(DATA));
    expect(await verify(receipt.replace(DATA.slice(2), "0a0b0c0e"))).toBe("WRONG_OUTPUT");
  });
});
