/** A browser's wallet brings what was imported onto a real chain. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { type Abi, decodeFunctionData } from "viem";
import { describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { jsonOf } from "../../base/json.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { renderDeployment } from "../../protocol/chain/deployment.ts";
import { inferOnChain } from "../../protocol/chain/execution/infer.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { accountAt } from "../support/anvil.ts";
import { HOSTILE } from "../support/explorer-system.ts";
import { assay, filesOf, importPage, NUDGEABLE } from "../support/import-page.ts";
import { type InjectedWallet, injectWallet } from "../support/injected-wallet.ts";

const at = importPage();

describe("the deployment by a wallet", () => {
  const injected = (name?: string): Promise<InjectedWallet> =>
    injectWallet(at.page, {
      ...{ rpcUrl: at.parts().local.rpcUrl, account: accountAt(3), chainId: at.parts().deployment.chainId },
      ...(name === undefined ? {} : { name }),
    });
  const press = (name: string) => () => at.page.getByRole("button", { name, exact: true }).click();
  const start = press("Register and publish");
  const goOn = press("Go on");

  it("default: a browser without a wallet is told what there is to do, and the page is accessible", async () => {
    await at.open();
    await at.expectAccessible("empty");
    await at.give(NUDGEABLE);
    await at.page.locator('[data-state="no-wallet"]').waitFor();
    await at.page.locator(".step-box").first().waitFor();
    await at.expectAccessible("imported");
  });

  it("behavior: a model gets onto the chain past a rejection, a lost transaction and a new page, and runs there", async () => {
    const wallet = await injected(HOSTILE);
    const files = filesOf("forecast-btc");
    await at.open();
    await at.give(files);
    await at.imported().waitFor();
    const modelId = (await at.idShown()) as ModelId;
    const kept = join(at.parts().folder, "kept");
    mkdirSync(kept);
    for (const [name, content] of Object.entries(await at.downloaded()))
      writeFileSync(join(kept, name), content);
    // A wallet's name is a stranger's text.
    const connectButton = at.page.getByRole("button", { name: /^Connect/ });
    expect(await connectButton.textContent()).toContain("<script>");
    // It stands on another chain at first, and is switched.
    wallet.chainId = 1;
    await connectButton.click();
    await at.page.getByText("By the account").waitFor();
    expect(wallet.methods).toContain("wallet_switchEthereumChain");
    // The owner refuses the second transaction.
    wallet.decide = (index) => (index === 1 ? "reject" : "sign");
    await start();
    await at.page.getByRole("alert").filter({ hasText: "The wallet did not sign" }).waitFor();
    expect(wallet.asked).toBe(2);
    await at.expectAccessible("rejected");
    // The next one is lost: its hash is told, and no node has it. The page is left while it waits.
    wallet.decide = () => "lose";
    await goOn();
    await at.page.getByText("waiting for a block").waitFor();
    expect(wallet.asked).toBe(3);
    await at.picture("import-deploy");
    wallet.decide = () => "sign";
    await at.open();
    await at.give(files);
    await at.page.getByRole("button", { name: /^Connect/ }).click();
    await start();
    await at.page.locator('[data-state="deployed"]').waitFor();
    await at.expectAccessible("deployed");
    const sent = wallet.asked;
    // What is there is not sent again.
    await at.open();
    await at.give(files);
    await at.page.getByRole("button", { name: /^Connect/ }).click();
    await start();
    await at.page.locator('[data-state="deployed"]', { hasText: "Everything was there before" }).waitFor();
    expect(wallet.asked).toBe(sent);
    // The chain has it, as this test finds by itself.
    const chain = await connect({ rpcUrl: at.parts().local.rpcUrl, deployment: at.parts().deployment });
    const { model, selector, manifest } = loadModelFolder(kept);
    const calldata = selfTestCalldata(model.program, selector, 2);
    const expected = toHex(execute(prepare(model, selector), calldata));
    expect(await inferOnChain(chain, modelId, toHex(calldata))).toBe(expected);
    // And so does the program of the command line, from the folder that was downloaded.
    const file = join(at.parts().folder, "deployment.json");
    writeFileSync(file, renderDeployment(at.parts().deployment));
    const { args = [] } = decodeFunctionData({ abi: manifest.abi as Abi, data: toHex(calldata) });
    const inputs = join(at.parts().folder, "inputs.json");
    const names = manifest.abi[0]?.inputs.map(({ name }) => name) ?? [];
    writeFileSync(inputs, jsonOf(Object.fromEntries(names.map((name, i) => [name, args[i]]))));
    const place = [
      "--rpc-url",
      at.parts().local.rpcUrl,
      "--deployment",
      file,
      "--data",
      join(at.parts().folder, "data"),
    ];
    const shown = await assay("model", "infer", kept, "--inputs", inputs, "--json", ...place);
    expect(JSON.parse(shown)).toMatchObject({ modelId, output: expected });
    await at.page.getByRole("link", { name: "Its page" }).click();
    await at.page.waitForURL(`**/models/${modelId}`);
    await at.page.locator("h1").waitFor();
  });

  it("behavior: a wallet at window.ethereum is found too, and one that leaves its chain is stopped", async () => {
    const wallet = await injected();
    await at.open();
    await at.give(NUDGEABLE);
    await at.page.getByRole("button", { name: "Connect Wallet of this browser" }).click();
    await at.page.getByText("By the account").waitFor();
    wallet.chainId = 1;
    await start();
    await at.page.getByRole("alert").filter({ hasText: "The wallet is on chain 1" }).waitFor();
    expect(wallet.asked).toBe(0);
    wallet.chainId = at.parts().deployment.chainId;
    await goOn();
    await at.page.locator('[data-state="deployed"]').waitFor();
  });

  it("behavior: the keyboard alone imports and deploys", async () => {
    at.page.once("filechooser", (chooser) => void chooser.setFiles(NUDGEABLE));
    await injected();
    await at.open();
    const tabTo = async (locator: Locator) => {
      await locator.waitFor();
      for (let tabs = 0; tabs < 100; tabs++) {
        if ((await locator.and(at.page.locator(":focus")).count()) === 1) return;
        await at.page.keyboard.press("Tab");
      }
      throw new Error("It cannot be reached by Tab.");
    };
    await tabTo(at.page.locator(".drop-input"));
    await at.page.keyboard.press("Space");
    await at.imported().waitFor();
    await tabTo(at.page.getByRole("checkbox", { name: /^nudge/ }));
    await at.page.keyboard.press("Space");
    await at.page.getByText("2 scales were moved").waitFor();
    await tabTo(at.page.getByRole("button", { name: /^Connect/ }));
    await at.page.keyboard.press("Enter");
    await tabTo(
      at.page.getByRole("button", { name: "Register and publish" }).and(at.page.locator(":enabled")),
    );
    await at.page.keyboard.press("Enter");
    await at.page.locator('[data-state="deployed"]').waitFor();
  });
});
