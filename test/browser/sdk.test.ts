import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { renderDeployment } from "../../protocol/chain/deployment.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { bundleForBrowser } from "../support/browser-bundle.ts";
import { startChromium } from "../support/chromium.ts";
import { bytesOutput, claimOutput } from "../support/claims.ts";
import { openLocalSystem } from "../support/deploy.ts";
import { EventLog } from "../support/event-log.ts";
import { openSdkPage, pageModule } from "../support/sdk-page.ts";

const DATA = "0x0a0b0c0d";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let events: EventLog;
let browser: Browser;
let page: Awaited<ReturnType<typeof openSdkPage>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  events = new EventLog(system.chain);
  browser = await startChromium();
  page = await openSdkPage(browser, (await bundleForBrowser(pageModule("./agent/sdk/index.ts"))).code);
});
afterAll(async () => {
  await browser?.close();
  await events?.stop();
  await system?.close();
  await local?.stop();
});

describe("assay/sdk in a browser", () => {
  it("default: asks, waits, and verifies the receipt offline", async () => {
    const asking = page.ask({
      rpcUrl: local.rpcUrl,
      deployment: renderDeployment(system.deployment),
      key: ANVIL_KEYS[2] ?? "",
      modelId: system.modelId,
      values: { data: DATA },
      fee: "1000",
    });
    const { requestId } = await events.until("Requested");
    const asked = events.events.find(({ name }) => name === "Requested");
    if (asked?.name !== "Requested") throw new Error(`Request ${requestId} is gone.`);
    expect(asked.args.request.requester).toBe(accountAt(2).address);
    await claimOutput(system.chain, system.sender, asked.args.request, bytesOutput(DATA));
    await local.passTime(asked.args.request.window + 1);
    const { output, receipt } = await asking;
    expect(output).toBe(bytesOutput(DATA));

    await page.goOffline();
    expect(await page.verify(receipt)).toBe(bytesOutput(DATA));
    expect(await page.verify(receipt.replace(DATA.slice(2), "0a0b0c0e"))).toBe("WRONG_OUTPUT");
  });
});
