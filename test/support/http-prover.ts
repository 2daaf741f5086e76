/** A prover's HTTP interface over shipped models, without a chain, for tests of its routes. */
import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { fromHex, toHex } from "../../inference/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { Book } from "../../protocol/chain/book.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { type HttpServer, listen } from "../../protocol/http/listen.ts";
import { Metrics } from "../../protocol/metrics/metrics.ts";
import { type Claim, type ClaimId, LANE, type Request, type RequestId } from "../../protocol/terms.ts";
import type { FastPath } from "../../prover/fast-path.ts";
import type { Payment } from "../../prover/http/parts.ts";
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
/** What the tests of one file share. */
export const prover: { book: Book; failure: unknown; server: HttpServer; payment?: Payment | undefined } = {
  book: new Book(),
  failure: undefined,
  // Set before the first test runs.
  server: undefined as unknown as HttpServer,
};
/** The canonical executor; fails when told to. */
const engine: FastPath = {
  run: async (id, calldata) => {
    if (prover.failure instanceof Error) throw prover.failure;
    if (prover.failure !== undefined) return { failure: String(prover.failure) };
    const model = models.get(id);
    return model === undefined ? { failure: "no model" } : { output: execute(model.prepared, calldata) };
  },
};
export const logged: { fields: Record<string, unknown>; message: string }[] = [];
const note = (fields: object, message: string) => {
  logged.push({ fields: fields as Record<string, unknown>, message });
};
export const log = { info: note, warn: note, error: note };
export const stopping = new AbortController();

beforeAll(async () => {
  const node = {
    get book() {
      return prover.book;
    },
    head: undefined,
    standing: undefined,
    decisionOn: () => undefined,
    termsOf: (model: ServedModel) => model,
    jobs: () => ({}),
  };
  // No route here reaches the chain: test/integration/prover.test.ts has those.
  const chain = {} as Chain;
  const policy = { marginPercent: 0, maxBonds: 0n, maxWindow: 60 };
  prover.server = await listen(
    createApp({
      node,
      chain,
      models,
      engine,
      policy,
      metrics: new Metrics(),
      log,
      nowMs: Date.now,
      pollIntervalMs: 5,
      maxWaitSeconds: MAX_WAIT_SECONDS,
      get payment() {
        return prover.payment;
      },
      signal: stopping.signal,
    }),
    "127.0.0.1",
    0,
  );
});
afterAll(() => prover.server.close());
beforeEach(() => {
  prover.book = new Book();
  logged.length = 0;
  prover.failure = undefined;
  prover.payment = undefined;
});

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

/** Puts a request for the calldata into the book. */
export function asked(
  status: "open" | "busy" | "done",
  output: Hex = toHex(right),
): { request: RequestId; claim: ClaimId } {
  const request = `0x${"ab".repeat(32)}` as RequestId;
  const claim = `0x${"cd".repeat(32)}` as ClaimId;
  const block = { number: 1n, hash: keccak256("0x") };
  const outputHash = keccak256(output);
  prover.book.requests.set(request, {
    id: request,
    request: { modelId: served.id, inputHash: keccak256(calldata) } as Request,
    input: calldata,
    block,
    status,
    attempt: 0,
    delivered: false,
    ...(status === "open" ? {} : { claimId: claim }),
    ...(status === "done" ? { result: { lane: LANE.BOND, outputHash, output } } : {}),
  });
  prover.book.claims.set(claim, {
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
