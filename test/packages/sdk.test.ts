import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packedFile } from "../../tools/packages/pack.ts";
import { hasChromium, startChromium } from "../support/chromium.ts";
import { FreshProject, NODES, sizeOf } from "../support/fresh-project.ts";
import { sampled } from "../support/scale.ts";
import { ScriptedChat } from "../support/scripted-chat.ts";
import { openSdkPage, pageModule } from "../support/sdk-page.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { type PaymentSystem, startPayments } from "../support/x402.ts";

const SDK = packedFile("@assay/sdk");
/** gzipped, beside viem */
const MOST_BYTES = 100 * 1024;
const PRICE = 2_500n;
const PAYER = ROLES.cheat + 2;
const BROWSER = ROLES.cheat + 4;

let system: System;
let payments: PaymentSystem;
let llm: ScriptedChat;
let proverUrl: string;
let plain: FreshProject;
let strict: FreshProject;

beforeAll(async () => {
  plain = new FreshProject("test/packages/projects/plain");
  plain.install([SDK, "viem@2.57.20"]);
  strict = new FreshProject("test/packages/projects/strict");
  strict.install([SDK]);
  llm = await ScriptedChat.start();
  llm.script = ({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? { text: "It is bearish." }
      : { calls: [{ name: "sentiment", arguments: '{"text":"Costs explode"}' }] };
  system = await startSystem({ models: ["sentiment"], answerSeconds: 1 });
  payments = await startPayments(system, systemAccount(PAYER), systemAccount(ROLES.cheat + 3));
  const prover = system.daemon("prover", ROLES.prover, [
    ...["prover", "--port", "0", "--payment-price", `${PRICE}`, "--payment-asset", payments.asset],
    ...["--payment-network", payments.network, "--payment-facilitator", payments.facilitatorUrl],
  ]);
  proverUrl = String((await prover.logged("prover is up")).url);
});
afterAll(async () => {
  await llm?.stop();
  await payments?.stop();
  await system?.stop();
  plain?.remove();
  strict?.remove();
});

const place = () => [
  system.rpcUrl,
  join(system.folder, "deployment.json"),
  system.model("sentiment").modelId,
];
const env = { ASSAY_KEY: keyOf(PAYER) };
/** The last one of a program's lines. */
const printed = (text: string): unknown => JSON.parse(text.trim().split("\n").at(-1) ?? "");

describe("@assay/sdk, packed", () => {
  it("default: holds JavaScript and declarations, and no name of a source file", () => {
    const folder = plain.path("node_modules/@assay/sdk");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const names = files.map(({ name }) => name);
    expect(names.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort()).toEqual([
      "LICENSE",
      "README.md",
      "package.json",
    ]);
    const named = files.filter(({ name, parentPath }) =>
      /(from|import\()\s*["'][^"']*(?<!\.d)\.ts["']/.test(readFileSync(join(parentPath, name), "utf8")),
    );
    expect(named).toEqual([]);
    console.log(
      `@assay/sdk installed with viem: ${(sizeOf(plain.path("node_modules")) / 2 ** 20).toFixed(0)} MB`,
    );
  });

  // The oldest and the newest on every change.
  for (const { name, by } of sampled(NODES, 2))
    it(`default: on plain ${name} an answer is asked for, and its receipt verifies offline`, async () => {
      const text = `Profit beats forecasts on ${name}`;
      const { stdout, stderr } = await plain.node(["main.js", ...place(), text], { by, env });
      expect(stderr).toBe("");
      expect(printed(stdout)).toEqual({
        lane: expect.stringMatching(/^(BOND|EXECUTION)$/),
        output: expect.stringMatching(/^0x[0-9a-f]+$/),
        verdict: true,
        forged: false,
      });
    });

  for (const config of sampled(["tsconfig.json", "tsconfig.bundler.json"], 2))
    it(`default: a strict project compiles by ${config}, without skipLibCheck`, async () => {
      const { stdout, status } = await strict.node(["node_modules/typescript/bin/tsc", "-p", config]);
      expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
    });

  // Today's AI SDK and OpenAI client ask for Node.js 22.
  for (const { name, by } of sampled(NODES.filter(({ major }) => major >= 22).reverse(), 2))
    it(`default: on ${name} the AI SDK, LangChain, the OpenAI client and x402 get final outputs`, async () => {
      const before = await payments.balanceOf(systemAccount(ROLES.prover).address);
      const args = ["dist/main.js", ...place(), llm.baseUrl, proverUrl];
      const { stdout, stderr } = await strict.node(args, { by, env });
      expect(stderr).toBe("");
      const final = { status: "final", values: { output0: expect.any(Number) } };
      expect(printed(stdout)).toMatchObject([final, final, final, final]);
      const answer = llm.requests.at(-1)?.messages.at(-1);
      expect(answer).toMatchObject({ role: "tool", content: expect.stringContaining('"status":"final"') });
      const earned = (await payments.balanceOf(systemAccount(ROLES.prover).address)) - before;
      // What was paid for once is free.
      expect([0n, PRICE]).toContain(earned);
    });
});

describe("@assay/sdk in a browser", () => {
  const bundle = (external: readonly string[], contents = 'export * from "@assay/sdk";') =>
    build({
      absWorkingDir: plain.folder,
      stdin: { contents, resolveDir: plain.folder },
      bundle: true,
      minify: true,
      platform: "browser",
      format: "esm",
      external: [...external],
      write: false,
      metafile: true,
      logLevel: "silent",
    });
  const imports = ({ inputs }: Metafile) => Object.values(inputs).flatMap((input) => input.imports);

  it(`default: bundles without Node.js, and takes at most ${MOST_BYTES / 1024} KB gzipped beside viem`, async () => {
    const { outputFiles, metafile } = await bundle(["viem"]);
    expect(imports(metafile).filter(({ path }) => path.startsWith("node:"))).toEqual([]);
    const bytes = gzipSync(outputFiles[0]?.contents ?? "").length;
    console.log(`@assay/sdk in a browser: ${(bytes / 1024).toFixed(1)} KB gzipped beside viem`);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
    const { outputFiles: whole } = await bundle([]);
    expect(whole[0]?.text).not.toMatch(/from"node:|\bBuffer\.from\b|\bprocess\.(cwd|exit)/);
  });

  it.runIf(hasChromium())(
    "default: in Chromium an answer is asked for, and its receipt verifies offline",
    async () => {
      const { outputFiles } = await bundle([], pageModule("@assay/sdk"));
      const browser = await startChromium();
      try {
        const page = await openSdkPage(browser, outputFiles[0]?.text ?? "");
        const { requestId, output, receipt } = await page.ask({
          rpcUrl: system.rpcUrl,
          deployment: readFileSync(join(system.folder, "deployment.json"), "utf8"),
          key: keyOf(BROWSER),
          modelId: system.model("sentiment").modelId,
          values: { text: "Margins widen" },
          fee: `${10n ** 16n}`,
        });
        const [event] = system.events.all("Requested", (asked) => asked.requestId === requestId);
        expect(event?.request.requester).toBe(systemAccount(BROWSER).address);
        await page.goOffline();
        expect(await page.verify(receipt)).toBe(output);
        const flipped = output.slice(0, -1) + (output.endsWith("f") ? "0" : "f");
        expect(await page.verify(receipt.replace(output, flipped))).toBe("WRONG_OUTPUT");
      } finally {
        await browser.close();
      }
    },
  );
});
