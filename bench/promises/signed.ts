/** Signed answers of one `assay prover` process over HTTP/1.1 keep-alive, its client on the same machine: how many a
 *  second, and how long each takes; the journal is on the disk before an answer leaves. */
import { parseEther } from "viem";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { fetchMetrics } from "../../test/support/exposition.ts";
import { encodeText } from "../../test/support/sentiment-call.ts";
import { ROLES, startSystem, systemAccount } from "../../test/support/system.ts";
import type { Figure, Part } from "../report.ts";
import { type Load, load } from "./http-load.ts";
import { INPUTS, loadTogether, REQUESTERS } from "./together-load.ts";

const ANSWERS = 20_000;
const WARM_UP = 2_000;
const CONNECTIONS = [1, 8, 16, 32];
/** Of the warming up too. */
const MANY = 32;
const LEAST_A_SECOND = 2_000;
const MOST_MS = 5;
/** T: no window ends meanwhile. */
const ANSWER_SECONDS = 3_600;

/** What asks one prover's process. */
interface Client {
  readonly port: number;
  /** processor time of the prover's process so far, s: a busy machine changes it less than others' time */
  processor(): Promise<number>;
  /** different headlines */
  texts(count: number): readonly string[];
}

async function measure(): Promise<readonly Figure[]> {
  const system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  try {
    const model = system.model("sentiment");
    const { chain, sender } = await system.open("staker", ROLES.cheat);
    const actions = new PromiseActions(promisesOf(chain.deployment), chain.game);
    const prover = systemAccount(ROLES.prover).address;
    await sender.send(actions.deposit(prover, parseEther("10"), "bench"));
    const args = ["prover", "--port", "0", "--sign", "on", "--rate-per-minute", "0"];
    const { url } = await system.daemon("prover", ROLES.prover, args).logged("prover is up");
    let made = 0;
    const client: Client = {
      port: Number(new URL(url as string).port),
      processor: async () =>
        (await fetchMetrics(url as string)).get("process_cpu_seconds_total") ?? Number.NaN,
      texts: (count) =>
        Array.from({ length: count }, () => `Company ${made++} raises its outlook after a strong quarter`),
    };
    const id = model.manifest.assay.modelId;
    return [...(await one(client, id, model)), ...(await together(client, id))];
  } finally {
    await system.stop();
  }
}

/** An input in each request, as calldata. */
async function one(
  { port, processor, texts }: Client,
  id: string,
  model: LoadedModel,
): Promise<readonly Figure[]> {
  const path = `/tools/${id}?finality=signed`;
  const bodies = (count: number) => texts(count).map((text) => encodeText(model, text));
  while ((await load(port, path, bodies(1), 1)).refused > 0) await new Promise((r) => setTimeout(r, 100));
  await load(port, path, bodies(WARM_UP), MANY);
  const figures: Figure[] = [];
  const since = await processor();
  for (const connections of CONNECTIONS) {
    const measured = await load(port, path, bodies(ANSWERS), connections);
    const of = `${connections} connection${connections === 1 ? "" : "s"}`;
    figures.push({ name: `signed answers a second, ${of}`, value: grouped(aSecond(measured)) });
    figures.push({
      ...{ name: `… their median, 95 % and 99 %, ${of}`, value: times(measured) },
      ...(connections === 1 ? { target: `median ≤ ${MOST_MS} ms`, isMet: measured.median <= MOST_MS } : {}),
    });
  }
  const spent = (1_000 * ((await processor()) - since)) / (ANSWERS * CONNECTIONS.length);
  return [...figures, { name: "processor time of an answer, the prover's process", value: ms(spent) }];
}

/** Many inputs in each request, as JSON. */
async function together({ port, processor, texts }: Client, id: string): Promise<readonly Figure[]> {
  await loadTogether(port, id, texts(WARM_UP));
  const since = await processor();
  const measured = await loadTogether(port, id, texts(ANSWERS));
  const reached = aSecond(measured);
  const spent = (1_000 * ((await processor()) - since)) / ANSWERS;
  const of = `${INPUTS} inputs a request, ${REQUESTERS} connections`;
  return [
    {
      ...{ name: `signed answers a second, ${of}`, value: grouped(reached) },
      ...{ target: `≥ ${grouped(LEAST_A_SECOND)}`, isMet: reached >= LEAST_A_SECOND },
    },
    { name: `… median, 95 % and 99 % of a request`, value: times(measured) },
    { name: `… processor time of an answer, the prover's process`, value: ms(spent) },
  ];
}

/** @throws Error where an answer was refused @returns answers, rounded */
function aSecond({ aSecond: answers, refused }: Load): number {
  if (refused > 0) throw new Error(`${refused} answers were refused`);
  return Math.round(answers);
}

const grouped = (value: number) => value.toLocaleString("en-US");
const ms = (value: number) => `${value.toFixed(2)} ms`;
const times = ({ median, p95, p99 }: Load) => `${median.toFixed(1)}, ${p95.toFixed(1)}, ${p99.toFixed(1)} ms`;

export const SIGNED_PART: Part = {
  name: "signed",
  title: "Signed answers",
  method: `One \`assay prover --sign on\` process and its client on this machine: ${ANSWERS.toLocaleString("en-US")} different headlines for \`models/sentiment\` at each number of connections, HTTP/1.1 keep-alive: one in a request as calldata, then ${INPUTS} in a request as JSON (\`POST /v1/tools/{name}/signed-claims\`). Each is run by the canonical executor, signed, and journalled with the disk's flush before it is answered.`,
  run: measure,
};
