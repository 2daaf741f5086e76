/** A page of Chromium that has the SDK and nothing else of ours: asks, waits, and verifies offline. */
import type { Browser, Page } from "playwright-core";

/** Everything that the page has. @param sdk what it is imported by */
export const pageModule = (sdk: string): string => `
  import * as sdk from ${JSON.stringify(sdk)};
  import { createWalletClient, http } from "viem";
  import { privateKeyToAccount } from "viem/accounts";
  globalThis.assay = { ...sdk, createWalletClient, http, privateKeyToAccount };
`;
/** Runs in the page: asks, waits, makes the receipt. */
const ASK = `async ({ rpcUrl, deployment, key, modelId, values, fee }) => {
  const { connect, parseDeployment, openModel, request, wait, receiptOf, renderReceipt, policyOf } = assay;
  const { createWalletClient, http, privateKeyToAccount } = assay;
  const chain = await connect({ rpcUrl, deployment: parseDeployment(deployment, "deployment") });
  const wallet = createWalletClient({ account: privateKeyToAccount(key), transport: http(rpcUrl) });
  const model = await openModel(chain, modelId);
  const asked = await request(chain, wallet, model, values, { fee: BigInt(fee) });
  const final = await wait(chain, asked, { pollIntervalMs: 50 });
  globalThis.policy = policyOf(asked);
  globalThis.trust = { ...chain.game, ...chain.constants, blockHash: final.block.hash };
  const receipt = renderReceipt(await receiptOf(chain, asked, final));
  return { requestId: asked.requestId, output: final.output, receipt };
}`;
/** Runs in the page, which then has no network. */
const VERIFY = `(text) => {
  const verdict = assay.verifyReceipt(assay.parseReceipt(text), trust, policy);
  return verdict.valid ? verdict.output : verdict.error.code;
}`;

export interface Question {
  readonly rpcUrl: string;
  /** the deployment file's text */
  readonly deployment: string;
  /** private key of an account with ether */
  readonly key: string;
  readonly modelId: string;
  /** by the codec's names */
  readonly values: object;
  /** wei, decimal */
  readonly fee: string;
}

export interface Answered {
  readonly requestId: string;
  readonly output: string;
  readonly receipt: string;
}

/** @param code of `pageModule`, bundled */
export async function openSdkPage(browser: Browser, code: string) {
  const page: Page = await browser.newPage();
  await page.addScriptTag({ type: "module", content: code });
  await page.waitForFunction("globalThis.assay !== undefined");
  return {
    ask: (question: Question) => page.evaluate(`(${ASK})(${JSON.stringify(question)})`) as Promise<Answered>,
    goOffline: () => page.context().setOffline(true),
    /** @returns the final output, or the code of the error */
    verify: (receipt: string) => page.evaluate(`(${VERIFY})(${JSON.stringify(receipt)})`),
  };
}
