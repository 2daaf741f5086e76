/** Signed answers of one `assay prover` process over HTTP/1.1 keep-alive, its client on the same machine: how many a
 *  second, and how long each takes; the journal is on the disk before an answer leaves. */
import { parseEther } from "viem";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { fetchMetrics } from "../../test/support/exposition.ts";
import { encodeText } from "../../test/support/sentiment-call.ts";
import { ROLES, startSystem, systemAccount } from "../../test/support/system.ts";
import type { Figure, Part } from "../report.ts";
import { load } from "./http-load.ts";

const ANSWERS = 20_000;
const WARM_UP = 2_000;
const CONNECTIONS = [1, 8, 16, 32];
/** Of the figure that has the target. */
const MANY = 32;
const LEAST_A_SECOND = 2_000;
const MOST_MS = 5;
/** T: no window ends meanwhile. */
const ANSWER_SECONDS = 3_600;

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
    const port = Number(new URL(url as string).port);
    const path = `/tools/${model.manifest.assay.modelId}?finality=signed`;
    let text = 0;
    const bodies = (count: number) =>
      Array.from({ length: count }, () =>
        encodeText(model, `Company ${text++} raises its outlook after a strong quarter`),
      );
    while ((await load(port, path, bodies(1), 1)).refused > 0) await new Promise((r) => setTimeout(r, 100));
    await load(port, path, bodies(WARM_UP), MANY);
    const figures: Figure[] = [];
    const processor = async () =>
      (await fetchMetrics(url as string)).get("process_cpu_seconds_total") ?? Number.NaN;
    const since = await processor();
    for (const connections of CONNECTIONS) {
      const { aSecond, median, p95, p99, refused } = await load(port, path, bodies(ANSWERS), connections);
      if (refused > 0) throw new Error(`${refused} of ${ANSWERS} answers were refused`);
      const name = `signed answers a second, ${connections} connection${connections === 1 ? "" : "s"}`;
      const value = Math.round(aSecond).toLocaleString("en-US");
      const isTarget = connections === MANY;
      figures.push({
        ...{ name, value },
        ...(isTarget
          ? { target: `≥ ${LEAST_A_SECOND.toLocaleString("en-US")}`, isMet: aSecond >= LEAST_A_SECOND }
          : {}),
      });
      figures.push({
        name: `… their median, 95 % and 99 %, ${connections} connection${connections === 1 ? "" : "s"}`,
        value: `${median.toFixed(1)}, ${p95.toFixed(1)}, ${p99.toFixed(1)} ms`,
        ...(connections === 1 ? { target: `median ≤ ${MOST_MS} ms`, isMet: median <= MOST_MS } : {}),
      });
    }
    // What a busy machine does not change as much: threads are counted, the child with onnxruntime is not.
    const spent = (1_000 * ((await processor()) - since)) / (ANSWERS * CONNECTIONS.length);
    figures.push({
      name: "processor time of an answer, the prover's process",
      value: `${spent.toFixed(2)} ms`,
    });
    return figures;
  } finally {
    await system.stop();
  }
}

export const SIGNED_PART: Part = {
  name: "signed",
  title: "Signed answers",
  method: `One \`assay prover --sign on\` process and its client on this machine: ${ANSWERS.toLocaleString("en-US")} different headlines for \`models/sentiment\` at each number of connections, HTTP/1.1 keep-alive, calldata form. Each is run by the canonical executor, signed, and journalled with the disk's flush before it is answered.`,
  run: measure,
};
