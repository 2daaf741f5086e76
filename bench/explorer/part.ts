/** The explorer at 100,000 claims: how fast it follows a chain, and how soon it answers. */

import { join } from "node:path";
import { SILENT } from "../../base/log.ts";
import { startDaemon } from "../../cli/demo/processes.ts";
import { createRng, type Rng } from "../../conformance/generate/rng.ts";
import type { Overview } from "../../explorer/api/types.ts";
import { readGlossary } from "../../explorer/glossary-file.ts";
import { createApp } from "../../explorer/http/server.ts";
import { Stream } from "../../explorer/http/stream.ts";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import { EXPLORER_SCHEMA } from "../../explorer/index/schema.ts";
import { Library } from "../../explorer/library.ts";
import { Provers } from "../../explorer/provers.ts";
import { NodeReads } from "../../explorer/read/node-reads.ts";
import { SqliteStore } from "../../explorer/store/sqlite-store.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { listen } from "../../protocol/service/http/listen.ts";
import { openDatabase } from "../../protocol/service/journal/database.ts";
import { temporaryFolder } from "../../test/support/deploy.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { CHALLENGER_INDEX, type LoadChain, openLoadChain } from "../load/chain.ts";
import { type BenchOptions, type Figure, grouped, type Measured, type Part } from "../report.ts";
import { type MadeModel, madeHistory } from "./made.ts";
import { builtPages, measurePages } from "./pages.ts";

const CLAIMS = 100_000;
/** On a real chain. */
const FOLLOWED = 4_000;
const CLAIMS_PER_BLOCK = 100;
/** Claims a second that must be followed. */
const LEAST_RATE = 200;
/** Most that an answer may take, ms. */
const MOST_MS = 200;
/** Answers of each kind. */
const ROUNDS = 25;
const LOOK_MS = 50;
const MODELS = join(projectRoot, "models");

async function measure({ claims = CLAIMS }: BenchOptions): Promise<Measured> {
  const folder = temporaryFolder();
  const bench = await openLoadChain(folder.path);
  try {
    const followed = await follow(bench, folder.path);
    const made = await answer(bench.chain, folder.path, claims, await modelsOf(bench));
    return { figures: [...followed, ...made.figures], rows: made.rows };
  } finally {
    await bench.stop();
    folder.remove();
  }
}

/** Files claims on the chain; then an explorer catches up. */
async function follow(bench: LoadChain, folder: string): Promise<Figure[]> {
  const numbers = (from: number) => Array.from({ length: CLAIMS_PER_BLOCK }, (_, i) => from + i);
  for (let from = 0; from < FOLLOWED; from += CLAIMS_PER_BLOCK) {
    const requests = await Promise.all(numbers(from).map((i) => bench.ask(i)));
    await bench.mine();
    await Promise.all(requests.map((request, at) => bench.claim(from + at, request, false)));
    await bench.mine();
  }
  const daemon = startDaemon({
    name: "explorer",
    args: ["explorer", "--port", "0", "--models", MODELS],
    key: bench.keyOf(CHALLENGER_INDEX),
    ...{ folder, rpcUrl: bench.rpcUrl, deployment: bench.deploymentPath },
  });
  try {
    const { url } = await daemon.logged("explorer is up");
    const started = performance.now();
    for (;;) {
      const { claims } = (await (await fetch(`${url}/v1/overview`)).json()) as Overview;
      if (claims.ACTIVE === FOLLOWED) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const rate = FOLLOWED / ((performance.now() - started) / 1_000);
    return [
      {
        name: `claims followed a second, with their requests, blocks and receipts (${grouped(FOLLOWED)} on anvil)`,
        value: rate.toFixed(0),
        target: `≥ ${LEAST_RATE}`,
        isMet: rate >= LEAST_RATE,
      },
    ];
  } finally {
    await daemon.stop();
  }
}

/** The chain's own model, and two that no folder has. */
async function modelsOf(bench: LoadChain): Promise<MadeModel[]> {
  const { modelId } = await bench.ask(FOLLOWED);
  const word = await new StateReader(bench.chain).modelWord(modelId);
  const { input, output } = bench.example;
  const other = (digit: string) => `0x${digit.repeat(64)}` as ModelId;
  return [modelId, other("a"), other("b")].map((id) => ({ modelId: id, word, input, output }));
}

interface Row {
  readonly endpoint: string;
  readonly medianMs: number;
  readonly worstMs: number;
}

async function answer(chain: Chain, folder: string, count: number, models: readonly MadeModel[]) {
  const store = new SqliteStore(openDatabase(join(folder, "made.sqlite"), [EXPLORER_SCHEMA]));
  const index = new ExplorerIndex(store);
  const claims: string[] = [];
  let events = 0;
  let indexMs = 0;
  for (const { batch, facts, claims: made } of madeHistory(models, count, 1_700_000_000)) {
    const started = process.cpuUsage();
    await index.take(batch, facts);
    const { user, system } = process.cpuUsage(started);
    indexMs += (user + system) / 1_000;
    claims.push(...made);
    events += batch.events.length;
  }
  const library = new Library([MODELS], SILENT, (id) => new StateReader(chain).program(id as ModelId));
  const nowMs = Date.now;
  const pulse = { newest: index.head?.number, silentSinceMs: undefined };
  const parts = {
    index,
    chain,
    library,
    glossary: readGlossary(),
    pulse,
    nowMs,
    reads: new NodeReads(chain, nowMs),
    provers: new Provers([]),
  };
  const limits = { requestsPerMinute: 0 };
  const pagesFolder = await builtPages();
  const app = createApp({ ...parts, stream: new Stream(parts), log: SILENT, limits, pagesFolder });
  const server = await listen(app, "127.0.0.1", 0);
  try {
    const rows: Row[] = [];
    for (const [endpoint, pathOf] of endpoints(index, claims, models))
      rows.push(await time(server.url, endpoint, pathOf));
    const rng = createRng(2);
    const [model] = models as [MadeModel];
    const pages = await measurePages(server.url, pagesFolder, {
      overview: "/",
      claims: "/claims",
      claim: `/claims/${rng.pick(claims)}`,
      dispute: `/claims/${await disputedOf(index, model.modelId, rng)}/dispute`,
      model: `/models/${model.modelId}`,
    });
    const worst = Math.max(...rows.map(({ worstMs }) => worstMs));
    const figures: Figure[] = [
      {
        name: "claims indexed in a second of processor time, without their chain",
        value: (count / (indexMs / 1_000)).toFixed(0),
      },
      {
        name: "events indexed in a second of processor time, without their chain",
        value: (events / (indexMs / 1_000)).toFixed(0),
      },
      ...rows.map(({ endpoint, medianMs, worstMs }) => ({
        name: `${endpoint} at ${grouped(count)} claims, median and worst of ${ROUNDS}`,
        value: `${medianMs.toFixed(1)} ms, ${worstMs.toFixed(1)} ms`,
      })),
      {
        name: "slowest answer",
        value: `${worst.toFixed(1)} ms`,
        target: `< ${MOST_MS} ms`,
        isMet: worst < MOST_MS,
      },
      ...pages.figures,
    ];
    return { figures, rows: [...rows, ...pages.rows] };
  } finally {
    await server.close();
    await store.close();
  }
}

type PathOf = (rng: Rng) => Promise<string> | string;

/** What is asked for, anywhere in the history: the newest, the oldest, and filters that find little. */
function endpoints(
  index: ExplorerIndex,
  claims: readonly string[],
  models: readonly MadeModel[],
): readonly (readonly [string, PathOf])[] {
  const row = async (rng: Rng) => {
    const id = rng.pick(claims) as `0x${string}`;
    const found = await index.read(({ tables }) => tables.claim(id));
    if (found === undefined) throw new Error("A claim is not indexed.");
    return found;
  };
  const model = (rng: Rng) => rng.pick(models).modelId;
  const transaction = async (rng: Rng) => {
    const { claimId } = await row(rng);
    const [move] = await index.read(({ tables }) => tables.moves("m.claim_id = ?", "LIMIT 1", [claimId]));
    return move?.tx ?? "";
  };
  const requester = async (rng: Rng) => {
    const { requestId } = await row(rng);
    return (await index.read(({ tables }) => tables.request(requestId)))?.requester;
  };
  return [
    ["overview", () => "/v1/overview"],
    ["models", () => "/v1/models"],
    ["model", (rng) => `/v1/models/${model(rng)}`],
    ["requests", async (rng) => `/v1/requests?limit=100&before=${(await row(rng)).seq}`],
    ["requests of a requester", async (rng) => `/v1/requests?limit=100&requester=${await requester(rng)}`],
    ["requests refunded", () => "/v1/requests?limit=100&state=REFUNDED"],
    ["request", async (rng) => `/v1/requests/${(await row(rng)).requestId}`],
    ["claims", async (rng) => `/v1/claims?limit=100&before=${(await row(rng)).seq}`],
    [
      "claims, fallen, of a model and prover",
      async (rng) =>
        `/v1/claims?limit=100&state=FALLEN&model=${model(rng)}&prover=${(await row(rng)).prover}`,
    ],
    ["claims, disputed, that are final", () => "/v1/claims?limit=100&disputed=true&state=FINAL"],
    ["claims of a day that was long ago", () => "/v1/claims?limit=100&until=1700010000"],
    [
      "claims of a challenger",
      async (rng) => `/v1/claims?limit=100&challenger=${await challengerOf(index, rng)}`,
    ],
    ["claim", async (rng) => `/v1/claims/${(await row(rng)).claimId}`],
    [
      "dispute",
      async (rng) => `/v1/claims/${await disputedOf(index, (models[0] as MadeModel).modelId, rng)}/dispute`,
    ],
    ["events", async (rng) => `/v1/events?limit=100&before=${(await row(rng)).seq}`],
    [
      "events of an account and name",
      async (rng) => `/v1/events?limit=100&name=Fell&account=${(await row(rng)).prover}`,
    ],
    ["events of a model and name", (rng) => `/v1/events?limit=100&name=Burned&model=${model(rng)}`],
    ["accounts", () => "/v1/accounts?limit=100"],
    ["accounts of a role that none has", () => "/v1/accounts?limit=100&role=operator"],
    ["account", async (rng) => `/v1/accounts/${(await row(rng)).prover}`],
    ["search by a beginning", async (rng) => `/v1/search?q=${(await row(rng)).claimId.slice(0, 8)}`],
    ["search for nothing", () => "/v1/search?q=0xffffffffffff"],
    ["transaction", async (rng) => `/v1/transactions/${await transaction(rng)}`],
    ["glossary", () => "/v1/glossary"],
  ];
}

async function challengerOf(index: ExplorerIndex, rng: Rng): Promise<string> {
  const text = "SELECT DISTINCT account FROM tickets ORDER BY account";
  const found = await index.read(({ tables }) => tables.sql.all<{ account: string }>(text));
  return rng.pick(found).account;
}

async function disputedOf(index: ExplorerIndex, model: string, rng: Rng): Promise<string> {
  const text = "SELECT id AS claim FROM claims WHERE tickets > 0 AND model = ? ORDER BY id";
  const found = await index.read(({ tables }) => tables.sql.all<{ claim: string }>(text, model));
  return rng.pick(found).claim;
}

async function time(url: string, endpoint: string, pathOf: PathOf): Promise<Row> {
  const rng = createRng(1);
  const paths: string[] = [];
  for (let i = 0; i < ROUNDS; i++) paths.push(await pathOf(rng));
  const took: number[] = [];
  for (const path of paths) {
    const started = performance.now();
    const response = await fetch(url + path);
    await response.arrayBuffer();
    took.push(performance.now() - started);
    if (!response.ok) throw new Error(`${path} is answered by ${response.status}.`);
  }
  took.sort((a, b) => a - b);
  return { endpoint, medianMs: took[ROUNDS >> 1] as number, worstMs: took.at(-1) as number };
}

export const EXPLORER_PART: Part = {
  name: "explorer",
  title: "The explorer",
  method: `One \`assay explorer\` process catches up with ${grouped(FOLLOWED)} claims on anvil. Answers come over HTTP from an index of ${grouped(CLAIMS)} claims (\`--claims\`) by ${50} provers on three models, of which one in fifty fell; each is asked for ${ROUNDS} times, with other ids and pages, the first time included. Pages are loaded by Chromium on the same machine with an empty cache: until nothing is grey any more, and the main thread has no long task for half a second.`,
  run: measure,
};
