/** The operator's page over real daemons: a prover that leaves an answer out, and the challenger that asked for it. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import type { Operator } from "../../explorer/api/types.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { explorerPages, PATIENCE_MS } from "../support/explorer-pages.ts";
import { encodeText } from "../support/sentiment-call.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Above the pause of the watcher, and below the least time that an alert wants to be left. */
const ANSWER_SECONDS = 120;

let system: System;
let url: string;
let cheat: Daemon;
const tab = explorerPages(() => url);
let page: Page;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  cheat = system.cheat("cheat", ROLES.cheat, "stall-reveal");
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend", "--port", "0"]);
  const watched = [await cheat.logged("prover is up"), await challenger.logged("challenger is up")];
  const watch = watched.map(({ url }) => String(url)).join(",");
  const explorer = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0", "--watch", watch]);
  url = String((await explorer.logged("explorer is up")).url);
});
afterAll(() => system?.stop());
beforeEach(() => {
  ({ page } = tab);
});

const answered = async (): Promise<Operator> =>
  (await (await fetch(`${url}/v1/operator`)).json()) as Operator;

describe("the operator's page", () => {
  it("default: daemons with account, balance and stake, and nothing to do", async () => {
    await tab.open("/");
    await page.getByRole("link", { name: "Operator" }).click();
    await page.getByText("Every daemon answers, and no alert holds.").waitFor();
    for (const [role, index] of [
      ["prover", ROLES.cheat],
      ["challenger", ROLES.challenger],
    ] as const) {
      const sheet = page.getByRole("article", { name: new RegExp(`^${role} at `) });
      await sheet.getByText("well").waitFor();
      const address = systemAccount(index).address;
      await sheet.locator(`a[title="${address}"]`).waitFor();
      const balance = await system.chain.client.getBalance({ address });
      const { daemons } = await answered();
      const daemon = daemons.find((one) => one.account === address);
      // A double holds 53 bits of it.
      expect(Number(daemon?.balance)).toBeCloseTo(Number(balance), -Math.log10(Number(balance)) + 12);
      expect(daemon).toMatchObject({ role, isUp: true, isNodeUp: true, isElsewhere: false });
    }
    await page.getByText("No clock runs").waitFor();
    expect(await tab.findings("operator, idle", 1280)).toEqual([]);
  });

  it("behavior: an answer that is owed is an alert with its next step, and the first of the clocks", async () => {
    await tab.open("/operator");
    const sentiment = system.model("sentiment");
    const prover = systemAccount(ROLES.cheat).address;
    await system.ask({
      ...{ model: sentiment, prover, lanes: LANE.BOND },
      calldata: encodeText(sentiment, "Dividend cut"),
    });
    const { claimId } = await system.events.until("Demanded", () => true);
    const alert = page.locator(".notice.tone-bad", { hasText: "owes reveal of claim" });
    await alert.first().waitFor();
    expect(await alert.first().locator("pre").textContent()).toBe(`assay claim show ${claimId}`);
    const first = page.locator("tbody tr").first();
    await first.filter({ hasText: "your move" }).waitFor();
    await first.filter({ hasText: /\d+ s left/ }).waitFor();
    expect(await first.locator("a").first().getAttribute("href")).toBe(`/claims/${claimId}`);
    // Two daemons and the index are read one after another.
    const patience = { timeout: PATIENCE_MS };
    const firstEnds = async () => (await answered()).clocks[0]?.deadline;
    await expect.poll(firstEnds, patience).toMatchObject({ kind: "demand", by: "prover" });
    const rules = async () => (await answered()).alerts.map(({ rule }) => rule);
    await expect
      .poll(rules, patience)
      .toEqual(expect.arrayContaining(["AssayAnswerDue", "AssayClaimDisputed", "AssayWrongClaim"]));
    const { clocks, alerts } = await answered();
    expect(clocks[0]).toMatchObject({ account: prover, role: "prover", isOwnMove: true });
    expect(clocks.some(({ role }) => role === "challenger")).toBe(true);
    expect(alerts.findIndex(({ severity }) => severity === "warning")).toBe(
      alerts.filter(({ severity }) => severity === "critical").length,
    );
    for (const width of [1280, 390]) {
      await tab.open("/operator", width);
      await alert.first().waitFor();
      expect(await tab.findings("operator, disputed", width)).toEqual([]);
      await page.emulateMedia({ colorScheme: "light" });
      await tab.picture(`operator-${width}`);
    }
  });

  it("behavior: a daemon that is gone is told, with what it said last", async () => {
    await tab.open("/operator");
    await page.getByRole("article", { name: /^prover at / }).waitFor();
    await cheat.stop();
    const sheet = page.getByRole("article", { name: /^prover at / });
    await sheet.getByText("does not answer").waitFor({ timeout: PATIENCE_MS });
    await sheet.getByText("Below is what it said").waitFor();
    await sheet.getByText("bonds at stake").waitFor();
    expect(await tab.findings("operator, gone", 1280)).toEqual([]);
  });

  it("error: a page of another origin may not read it", async () => {
    const response = await fetch(`${url}/v1/operator`, { headers: { Origin: "https://elsewhere.example" } });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    const open = await fetch(`${url}/v1/overview`, { headers: { Origin: "https://elsewhere.example" } });
    expect(open.headers.get("access-control-allow-origin")).toBe("*");
  });
});
