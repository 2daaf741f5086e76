/** A language model's claim in a browser: its prompt and its answer by tokens, and on the dispute's page the one that was
 *  convicted. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { choiceText, RULE } from "../../cli/demo/final-choices.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { axeFindings } from "../support/axe.ts";
import { of } from "../support/cases.ts";
import { explorerPages } from "../support/explorer-pages.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const QUESTION = "Oil jumps <b>7 %</b>";

let system: System;
let url: string;
let page: Page;
const tab = explorerPages(() => url);

beforeAll(async () => {
  system = await startSystem({ models: ["choice"], answerSeconds: 60 });
  const explorer = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0"]);
  url = String((await explorer.logged("explorer is up")).url);
  await Promise.all([
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up"),
    system.cheat("cheat", ROLES.cheat, "output").logged("prover is up"),
  ]);
});
afterAll(() => system?.stop());
beforeEach(() => {
  ({ page } = tab);
});

/** @param by index of the account that alone may claim */
async function claimOf(by: number): Promise<{ claimId: string; text: string }> {
  const { model, selector, modelId } = system.model("choice");
  const text = choiceText();
  const { int16s } = text.prompt([
    { role: "system", content: RULE },
    { role: "user", content: QUESTION },
  ]);
  const calldata = encodeInput(model.program, selector, { codec: "int16s", int16s });
  const { requestId } = await system.ask({
    model: { modelId },
    calldata,
    prover: systemAccount(by).address,
  });
  const claimed = await system.events.until("Claimed", (event) => event.requestId === requestId);
  return { ...claimed, text: text.answerOf(fromHex(claimed.output)).text };
}

const tokens = (within: string) => page.locator(`${within} .tokens li`);

describe("a language model's claim", () => {
  it("default: its prompt and its answer are shown by tokens, those of control by name, and markup as text", async () => {
    const { claimId, text } = await claimOf(ROLES.prover);
    await tab.open(`/claims/${claimId}`);
    await tokens("").first().waitFor();
    const shown = await tokens("").allTextContents();
    const characters = [...RULE, "<|question|>", ...QUESTION, "<|choice|>"];
    expect(shown.join("|")).toContain(["<|rule|>", ...characters].join("|"));
    expect(shown.at(-1)).toBe(text);
    expect(await page.locator(".tokens .is-control").allTextContents()).toEqual([
      "<|rule|>",
      "<|question|>",
      "<|choice|>",
    ]);
    expect(await page.locator(".tokens .is-wrong").count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
  });

  it("behavior: the token that was convicted is marked, and no other", async () => {
    const wrong = await claimOf(ROLES.cheat);
    await system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up");
    const fell = await system.events.until("Fell", of(wrong));
    expect(FALL_REASONS[fell.reason]).toBe("OUTPUT");
    await tab.open(`/claims/${wrong.claimId}/dispute`);
    await page.locator("#conviction").waitFor();
    const marked = page.locator("#conviction-sheet .tokens .is-wrong");
    await marked.waitFor();
    expect(await marked.allTextContents()).toEqual([wrong.text]);
    expect(await page.locator("#conviction-sheet .tokens li").count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
    await tab.picture("dispute-tokens");
  });
});
