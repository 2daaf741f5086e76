/** A prover's HTTP interface over shipped models, without a chain, for tests of its routes. */
import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import { type Claim, type ClaimId, LANE, type Request, type RequestId } from "../../protocol/rules/types.ts";
import { type HttpServer, listen } from "../../protocol/service/http/listen.ts";
import { Metrics } from "../../protocol/service/metrics/metrics.ts";
import type { FastPath } from "../../prover/fast-path.ts";
import type { HttpLimits, Payment } from "../../prover/http/parts.ts";
import { createApp } from "../../prover/http/server.ts";
import { type ServedModel, serveModels } from "../../prover/models.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { forecastInput, loadForecast } from "./forecast.ts";

export const forecast = loadForecast();
export const sentiment = loadModelFolder(`${projectRoot}/models/sentiment`);
export const models = serveModels([forecast, sentiment]);
const [first, second] = [...models.values()];
if (first === undefined || second === undefined) throw new Error("two models");
export const served = first;
export const texts = second;
export const MAX_WAIT_SECONDS = 240;
export const HTTP_LIMITS = {
  maxWaitSeconds: MAX_WAIT_SECONDS,
  runTimeoutSeconds: 60,
  maxRuns: 4,
  requestsPerMinute: 0,
  corsOrigin: [],
};
/** What the tests of one file share. */
export const prover: {
  index: ClaimIndex;
  failure: unknown;
  server: HttpServer;
  payment?: Payment | undefined;
  events: Map<ClaimId, readonly ChainEvent[]>;
  head: Head | undefined /** instead of the executor */;
  run?: FastPath["run"] | undefined;
} = {
  index: new ClaimIndex(),
  failure: undefined,
  // Set before the first test runs.
  server: undefined as unknown as HttpServer,
  events: new Map(),
  head: undefined,
};
/** The canonical executor; fails when told to. */
const engine: FastPath = {
  run: async (id, calldata, signal) => {
    if (prover.run !== undefined) return prover.run(id, calldata, signal);
    if (prover.failure instanceof Error) throw prover.failure;
    if (prover.failure !== undefined) return { failure: String(prover.failure) };
    const model = models.get(id);
    return model === undefined ? { failure: "no model" } : { output: execute(model.prepared, calldata) };
  },
};
let canonical: CanonicalPool;
export const logged: { fields: Record<string, unknown>; message: string }[] = [];
const note = (fields: object, message: string) => {
  logged.push({ fields: fields as Record<string, unknown>, message });
};
export const log = { debug: note, info: note, warn: note, error: note };
export let stopping: AbortController;

/** The interface on a free port.
 *  @param limits other than those of the tests' own prover */
export function startApp(limits: Partial<HttpLimits> = {}, metrics = new Metrics()): Promise<HttpServer> {
  const node = {
    get index() {
      return prover.index;
    },
    get head() {
      return prover.head;
    },
    state: undefined,
    decisionOn: () => undefined,
    eventsOf: (id: ClaimId) => prover.events.get(id),
    termsOf: (model: ServedModel) => model,
    overdue: () => [],
    jobs: () => ({}),
  };
  // No route here reaches the chain: test/integration/prover.test.ts has those.
  const chain = {} as Chain;
  const policy = { marginPercent: 0, maxBonds: 0n, maxBond: 0n, endingBudget: 10n ** 16n, maxWindow: 60 };
  const app = createApp({
    node,
    chain,
    models,
    engine,
    canonical,
    policy,
    metrics,
    hasMetrics: true,
    pulse: { newest: undefined, silentSinceMs: 0 },
    log,
    nowMs: Date.now,
    pollIntervalMs: 5,
    limits: { ...HTTP_LIMITS, ...limits },
    get payment() {
      return prover.payment;
    },
    signal: stopping.signal,
  });
  return listen(app, "127.0.0.1", 0);
}

/** Called once by each test file: its prover, and what one test leaves is gone before the next. */
export function serveForTests(): void {
  beforeAll(async () => {
    canonical = new CanonicalPool(new Map([forecast, sentiment].map((model) => [model.modelId, model])));
    stopping = new AbortController();
    prover.server = await startApp();
  });
  afterAll(async () => {
    await prover.server.close();
    canonical.close();
  });
  beforeEach(() => {
    prover.index = new ClaimIndex();
    logged.length = 0;
    prover.failure = undefined;
    prover.payment = undefined;
    prover.run = undefined;
    prover.head = undefined;
    prover.events.clear();
  });
}

export const post = (
  path: string,
  body: string | Uint8Array,
  type?: string,
  headers: Record<string, string> = {},
) =>
  fetch(`${prover.server.url}${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : Buffer.from(body),
    headers: { ...(type === undefined ? {} : { "content-type": type }), ...headers },
  });
export const OCTETS = "application/octet-stream";
export const JSON_TYPE = "application/json";
export interface Answered {
  error?: { code: string; message: string; details: Record<string, unknown> };
  requestId?: string;
  [name: string]: unknown;
}
export const bodyOf = async (response: Response) => (await response.json()) as Answered;
export async function codeOf(response: Promise<Response>): Promise<[number, string | undefined]> {
  const answered = await response;
  return [answered.status, (await bodyOf(answered)).error?.code];
}

export const calldata = forecastInput(forecast, 3);
export const right = execute(served.prepared, fromHex(calldata));

/** Puts a request for the calldata into the index. */
export function asked(
  status: "open" | "busy" | "done",
  output: Hex = toHex(right),
): { request: RequestId; claim: ClaimId } {
  const request = `0x${"ab".repeat(32)}` as RequestId;
  const claim = `0x${"cd".repeat(32)}` as ClaimId;
  const block = { number: 1n, hash: keccak256("0x") };
  const outputHash = keccak256(output);
  prover.index.requests.set(request, {
    id: request,
    request: { modelId: served.id, inputHash: keccak256(calldata) } as Request,
    input: calldata,
    block,
    changedAt: block.number,
    status,
    attempt: 0,
    delivered: false,
    ...(status === "open" ? {} : { claimId: claim }),
    ...(status === "done" ? { result: { lane: LANE.BOND, outputHash, output } } : {}),
  });
  prover.index.claims.set(claim, {
    id: claim,
    claim: { outputHash } as Claim,
    output,
    windowEnd: 0,
    block,
    status: status === "done" ? "final" : "active",
    challengers: new Set(),
    collected: new Set(),
    demands: new Map(),
  });
  return { request, claim };
}

/** Calldata of the text model. */
export const encodeText = (text: string): Hex =>
  encodeFunctionData({
    abi: texts.manifest.abi as Parameters<typeof encodeFunctionData>[0]["abi"],
    functionName: texts.function.name,
    args: [text],
  });
