/** A model tried by a prover that the explorer knows, and that charges for final outputs. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { explorerPages } from "../support/explorer-pages.ts";
import { encodeText } from "../support/sentiment-call.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { type PaymentSystem, startPayments } from "../support/x402.ts";

const PRICE = 2_500;
const TEXT = "Shares fall after a profit warning";

let system: System;
let payments: PaymentSystem;
let prover: Daemon;
let url: string;
let page: Page;
const tab = explorerPages(() => url);
const modelPath = () => `/models/${system.model("sentiment").modelId}`;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 60 });
  payments = await startPayments(system, systemAccount(ROLES.cheat + 2), systemAccount(ROLES.cheat + 3));
  const { asset, network, facilitatorUrl } = payments;
  prover = system.daemon("prover", ROLES.prover, [
    ...["prover", "--port", "0", "--payment-price", `${PRICE}`, "--payment-asset", asset],
    ...["--payment-network", network, "--payment-facilitator", facilitatorUrl],
  ]);
  const known = String((await prover.logged("prover is up")).url);
  const explorer = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0", "--prover", known]);
  url = String((await explorer.logged("explorer is up")).url);
});
afterAll(async () => {
  await payments?.stop();
  await system?.stop();
});
beforeEach(() => {
  ({ page } = tab);
});

describe("a model, tried by a prover", () => {
  async function ask(finality: "any" | "final"): Promise<void> {
    await tab.open(modelPath());
    await page.locator("textarea").fill(TEXT);
    await page.getByLabel("what is wanted").selectOption(finality);
    await page.getByRole("button", { name: "Ask the prover" }).click();
  }

  it("default: an answer in words and numbers, with what it is worth", async () => {
    const { model, selector } = system.model("sentiment");
    await ask("any");
    await page.getByText("it has bonded nothing on it").waitFor();
    await page.locator(".badge", { hasText: "unverified" }).waitFor();
    expect(await tab.textOf(".reading-text")).toMatch(/^bearish/);
    await page.locator("summary", { hasText: "128 bytes" }).click();
    const calldata = encodeText(system.model("sentiment"), TEXT);
    expect(await tab.textOf(".code.wrap")).toBe(toHex(execute(prepare(model, selector), calldata)));
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      expect(await tab.findings("answer of a prover", width)).toEqual([]);
    }
    await tab.picture("prover-answer");
  });

  it("behavior: a final output that costs shows its price, and nothing is paid", async () => {
    await ask("final");
    const price = page.locator(".notice", { hasText: "A final output costs" });
    await price.waitFor();
    expect(await price.locator("dd").allTextContents()).toEqual([
      "2,500 units of the token",
      expect.stringContaining("0x"),
      payments.network,
      expect.stringContaining("0x"),
    ]);
    await price.locator(`a[title="${systemAccount(ROLES.prover).address}"]`).waitFor();
    expect(await tab.findings("price of a prover", 1280)).toEqual([]);
  });

  it("error: a prover that nobody named, and an input of another function", async () => {
    const post = async (body: object) => {
      const response = await fetch(`${url}/v1${modelPath()}/ask`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    const input = toHex(encodeText(system.model("sentiment"), TEXT));
    expect(await post({ input, prover: "169.254.169.254" })).toEqual([404, "PROVER_UNKNOWN"]);
    expect(await post({ input, prover: "http://127.0.0.1:1" })).toEqual([404, "PROVER_UNKNOWN"]);
    expect(await post({ input })).toEqual([400, "INPUTS_INVALID"]);
    expect(await post({ input: "0x12345678", prover: "x" })).toEqual([400, "SELECTOR_MISMATCH"]);
  });

  it("error: a prover that is gone is told, and the text stays", async () => {
    await tab.open(modelPath());
    await page.locator("textarea").fill(TEXT);
    await prover.stop();
    await page.getByRole("button", { name: "Ask the prover" }).click();
    await page.getByRole("alert").filter({ hasText: "gave no answer" }).waitFor();
    expect(await page.locator("textarea").inputValue()).toBe(TEXT);
    expect(await tab.findings("prover gone", 1280)).toEqual([]);
  });
});
