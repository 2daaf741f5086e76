/** Plays the end-to-end harness of x402 against the service in agent/examples/x402: it starts what run.sh names with the
 *  environment of test.config.json, waits for its line, pays its endpoints by the official client, and closes it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { decodePaymentResponseHeader } from "@x402/core/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { openLocalSystem } from "../support/deploy.ts";
import { type PaymentSystem, startPayments } from "../support/x402.ts";

const FOLDER = join(projectRoot, "agent/examples/x402");
interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly requiresPayment?: boolean;
  readonly health?: boolean;
  readonly close?: boolean;
}
interface HarnessConfig {
  readonly x402Version: number;
  readonly endpoints: readonly Endpoint[];
  readonly environment: { readonly required: readonly string[]; readonly optional: readonly string[] };
}
const config = JSON.parse(readFileSync(join(FOLDER, "test.config.json"), "utf8")) as HarnessConfig;
const payer = accountAt(5);
const payee = accountAt(6);
const PRICE = 1_000n;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let payments: PaymentSystem;
let environment: Record<string, string>;
let service: Service;

interface Service {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  printed(): string;
}

/** The line of run.sh that the harness takes: the first that begins with a command which it knows. */
function command(): readonly string[] {
  const lines = readFileSync(join(FOLDER, "run.sh"), "utf8").split("\n");
  const found = lines.find((line) => /^(pnpm|npm|node|python|uv run|go run) /.test(line.trim()));
  if (found === undefined) throw new Error("run.sh names no command.");
  return found.trim().split(" ");
}

/** @returns when it prints its line, or has ended */
async function start(env: Record<string, string>): Promise<Service> {
  const [program = "", ...args] = command();
  const child = spawn(program, args, { cwd: FOLDER, env: { ...process.env, ...env }, stdio: "pipe" });
  let printed = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const listening = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (part: Buffer) => {
        printed += part.toString();
        if (printed.includes("Server listening")) resolve();
      });
  });
  await Promise.race([listening, ended]);
  return { child, ended, printed: () => printed };
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  const {
    model,
    commitment,
    selector,
    laneBits: lanes,
    manifest,
  } = loadModelFolder(join(projectRoot, "models/sentiment"));
  const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
  const { modelId } = await registerModel(
    system.chain,
    system.sender,
    encodeProgram(model.program),
    identity,
  );
  await publishWeights(system.chain, system.sender, modelId, planPublication(model));
  payments = await startPayments(local, payer, accountAt(7));
  const deployment = join(system.folder, "harness-deployment.json");
  writeDeployment(deployment, system.deployment);
  environment = {
    PORT: `${await freePort()}`,
    EVM_PAYEE_ADDRESS: payee.address,
    EVM_PERMIT2_ASSET: payments.asset,
    EVM_NETWORK: payments.network,
    FACILITATOR_URL: payments.facilitatorUrl,
    ASSAY_RPC_URL: local.rpcUrl,
    ASSAY_DEPLOYMENT: deployment,
  };
  service = await start(environment);
});
afterAll(async () => {
  service?.child.kill("SIGKILL");
  await service?.ended;
  await payments?.stop();
  await system?.close();
  await local?.stop();
});

const url = (path: string) => `http://127.0.0.1:${environment.PORT}${path}`;
const init = (method: string, text?: string): RequestInit =>
  method === "GET"
    ? {}
    : { method, headers: { "content-type": "application/json" }, body: JSON.stringify({ text }) };
const earned = () => payments.balanceOf(payee.address);

describe("the service in agent/examples/x402", () => {
  it("default: has the form of the harness, and prints its line", () => {
    expect(config).toMatchObject({ type: "server", x402Version: 2 });
    expect(Object.keys(environment).sort()).toEqual(
      [...config.environment.required, ...config.environment.optional].sort(),
    );
    expect(service.printed()).toContain("Server listening");
  });

  it.each(config.endpoints.filter(({ requiresPayment }) => requiresPayment))(
    "default: $method $path asks for payment, and is paid for a final output",
    async ({ path, method }) => {
      const unpaid = await fetch(url(path), init(method, "Profit misses forecasts"));
      expect([unpaid.status, unpaid.headers.has("payment-required")]).toEqual([402, true]);
      const before = await earned();
      const paid = await payments.fetch(url(path), init(method, "Profit misses forecasts"));
      const body = (await paid.json()) as Record<string, unknown>;
      expect([paid.status, body]).toMatchObject([
        200,
        {
          status: "final",
          lane: "EXECUTION",
          message: expect.stringMatching(/^(bearish|neutral|bullish) \(/),
        },
      ]);
      expect(new Date(String(body.timestamp)).getTime()).toBeGreaterThan(0);
      const settled = decodePaymentResponseHeader(paid.headers.get("payment-response") ?? "");
      expect(settled).toMatchObject({ success: true, network: payments.network, payer: payer.address });
      expect((await earned()) - before).toBe(PRICE);
    },
  );

  it("error: nothing is taken for a call without an answer, a payment sent twice is taken once", async () => {
    const path = config.endpoints.find(({ method }) => method === "POST")?.path ?? "";
    const before = await earned();
    const failed = await payments.fetch(url(path), init("POST"));
    expect([failed.status, (await failed.json()) as object]).toMatchObject([
      400,
      { error: expect.stringMatching(/INVALID$/) },
    ]);
    expect(await earned()).toBe(before);
    const signed = await payments.sign(await fetch(url(path), init("POST", "Sales fall")));
    const send = () => {
      const { headers, ...rest } = init("POST", "Sales fall");
      return fetch(url(path), { ...rest, headers: { ...headers, ...signed } });
    };
    expect([(await send()).status, (await send()).status]).toEqual([200, 402]);
    expect((await earned()) - before).toBe(PRICE);
  });

  it("error: a variable that is missing ends it with 1 and its name", async () => {
    const { FACILITATOR_URL: _left, ...rest } = environment;
    const failed = await start({ ...rest, FACILITATOR_URL: "" });
    expect([await failed.ended, failed.printed()]).toEqual([1, expect.stringContaining("FACILITATOR_URL")]);
  });

  it("default: health, and a close that ends it with 0", async () => {
    const [health, close] = [
      config.endpoints.find((one) => one.health),
      config.endpoints.find((one) => one.close),
    ];
    expect(await (await fetch(url(health?.path ?? ""))).json()).toEqual({ status: "ok" });
    expect((await fetch(url(close?.path ?? ""), { method: close?.method ?? "" })).status).toBe(200);
    expect(await service.ended).toBe(0);
  });
});
