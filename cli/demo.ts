/** `npm run demo`: the main job on a local chain, with real processes, in some two minutes.
 *
 *  An agent's contract asks for the sentiment of headlines and for a forecast. One prover lies; a challenger convicts
 *  it on chain; the contract ends up with right and final outputs only. An explorer shows all of it. --keep leaves
 *  everything running, --traffic also asks on, with a dispute every minute. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, createTestClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { formatAmount } from "../base/amounts.ts";
import { fromHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import type { Step } from "../inference/program/form.ts";
import { type Chain, connect, createClient } from "../protocol/chain/connect.ts";
import { deploySystem } from "../protocol/chain/deploy.ts";
import { writeDeployment } from "../protocol/chain/deployment-file.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { EventFollower, pause } from "../protocol/chain/follower.ts";
import { promisesOf } from "../protocol/chain/promises/place.ts";
import { registerModel } from "../protocol/chain/register.ts";
import { requireAccount } from "../protocol/chain/sender.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { projectRoot } from "../tools/foundry.ts";
import { ANVIL_KEYS, startAnvil } from "./anvil.ts";
import { loadArtifact, loadArtifacts } from "./artifacts.ts";
import { Agent, type Question } from "./demo/agent.ts";
import { keepRunning } from "./demo/keep-running.ts";
import { askLanes, type LaneQuestion, laneLines, openLanes, openOf } from "./demo/lanes.ts";
import { folderOf } from "./demo/models.ts";
import { type Daemon, type DaemonOptions, DISHONEST_PROVER, startDaemon } from "./demo/processes.ts";
import { buyHeadlines, depositStakes } from "./demo/promises.ts";
import { Timeline } from "./demo/timeline.ts";
import { keepAsking } from "./demo/traffic.ts";
import { modelFolder } from "./model-source.ts";
import { reportError } from "./output.ts";
import { outputLine } from "./shown-output.ts";

const MODELS = ["sentiment", "sentiment-words", "forecast-vix"] as const;
/** Proving keys stay from run to run. */
const KEYS = join(projectRoot, "build", "keys");
const ANSWER_SECONDS = 3;
/** Of provers that answer with signed claims too. */
const SIGNS = ["--sign", "on", "--batch-seconds", "5"] as const;
/** Longest wait for the answers of one part. */
const LIMIT_MS = 180_000;
const ROLES = [
  "deployer",
  "honest prover",
  "dishonest prover",
  "challenger",
  "agent's owner",
  "lanes' requester",
] as const;

interface Input {
  readonly headlines: readonly string[];
  readonly prices: { readonly series: string } & Readonly<
    Record<"closes" | "highs" | "lows", readonly string[]>
  >;
}

const keyOf = (role: (typeof ROLES)[number]): Hex => ANVIL_KEYS[ROLES.indexOf(role)] as Hex;
const addressOf = (role: (typeof ROLES)[number]): Address => privateKeyToAccount(keyOf(role)).address;

async function main(keep: boolean, hasTraffic: boolean): Promise<void> {
  const startMs = Date.now();
  const folder = mkdtempSync(join(tmpdir(), "assay-demo-"));
  const sentiment = loadModelFolder(modelFolder("sentiment"));
  const names = new Map(ROLES.map((role) => [addressOf(role), `the ${role}`]));
  const timeline = new Timeline({
    startMs,
    names,
    stepOf: (step) => sentiment.model.program.steps[step] as Step,
    print: (line) => console.log(line),
  });
  await buildPages(timeline);
  timeline.log("compiling the contracts");
  const artifacts = loadArtifacts();
  const anvil = await startAnvil();
  const daemons: Daemon[] = [];
  const stopping = new AbortController();
  try {
    timeline.log(`deploying to a local chain at ${anvil.rpcUrl}, answer time T = ${ANSWER_SECONDS} s`);
    const chain = await timeline.during(
      () => "deploying, registering models and publishing weights",
      deploy(anvil.rpcUrl, folder, artifacts, timeline),
    );
    names.set(promisesOf(chain.deployment).promises, "Promises");
    const deployment = join(folder, "deployment.json");
    const lie = sentiment.model.program.steps.findLastIndex(({ opcode }) => opcode === "dot");
    // The explorer, provers and challenger load the models of the demonstration, and no others.
    const models = ["--models", folderOf(folder, "models", MODELS)];
    const start = (
      name: string,
      role: (typeof ROLES)[number],
      args: readonly string[],
      changes: Pick<DaemonOptions, "program"> = {},
    ) => {
      const common = { key: keyOf(role), folder, rpcUrl: anvil.rpcUrl, deployment };
      const daemon = startDaemon({ name, args: [...args, ...models], ...common, ...changes });
      daemons.push(daemon);
      return daemon;
    };
    const prover = start("honest-prover", "honest prover", [
      ...["prover", "--port", "0", "--keys", KEYS, ...SIGNS],
    ]);
    const challenger = start("challenger", "challenger", [
      ...["challenger", "defend", "--port", "0", "--intake-port", "0"],
    ]);
    const ready = [
      prover.logged("prover is up"),
      start("dishonest-prover", "dishonest prover", ["--port", "0", "--fault", `element:${lie}`, ...SIGNS], {
        program: DISHONEST_PROVER,
      }).logged("prover is up"),
      challenger.logged("challenger is up"),
    ];
    const owner = privateKeyToAccount(keyOf("agent's owner"));
    const artifact = loadArtifact("ToolAgent");
    const agents = {
      sentiment: await Agent.deploy(chain, anvil.rpcUrl, owner, artifact, "sentiment"),
      forecast: await Agent.deploy(chain, anvil.rpcUrl, owner, artifact, "forecast-vix"),
    };
    const [honest, cheat, watcher] = await timeline.during(
      () => "starting the provers and the challenger",
      Promise.all(ready),
    );
    const shows = ["--prover", String(honest?.url), "--watch", `${honest?.url},${watcher?.url}`];
    const explorer = await start("explorer", "deployer", ["explorer", "--port", "0", ...shows]).logged(
      "explorer is up",
    );
    timeline.log(`watch it in a browser, down to the arithmetic of a conviction: ${explorer.url}`);
    timeline.log("an honest prover, a dishonest one and a challenger are up; the agent asks");
    const follower = new EventFollower(chain, { pollIntervalMs: 100 });
    const events: ChainEvent[] = [];
    const following = follower.run((batch) => {
      if (batch.kind !== "blocks") return;
      events.push(...batch.events);
      for (const event of batch.events) timeline.logEvent(event);
    }, stopping.signal);
    const asked = await askAll(agents, timeline);
    await answersOf(asked, timeline);
    timeline.log("every question is answered by a bonded claim; now the same in every lane that a model has");
    const lanes = await inEveryLane(chain, folder, events, timeline);
    timeline.log("and by the hundred: signed by provers with stake, on the chain in a batch");
    const limit = AbortSignal.timeout(LIMIT_MS);
    const bought = buyHeadlines(
      {
        ...{ chain, loaded: sentiment, honest: String(honest?.url), cheat: String(cheat?.url) },
        ...{ challenger: String(watcher?.intakeUrl), events, progress: timeline, signal: limit },
      },
      (lanes.find(({ lane }) => lane === "BOND") as LaneQuestion).id,
    ).catch((error: unknown) => {
      if (limit.aborted) timedOut("the headlines that were bought");
      throw error;
    });
    await timeline.during(() => "waiting for the batch's window and the conviction", bought);
    await pause(1_500, stopping.signal);
    await report(asked, chain, timeline);
    console.log("\nThe same questions, in every lane of their models:");
    for (const line of await laneLines(requireAccount(chain), lanes, events)) console.log(line);
    if (keep) {
      const traffic = hasTraffic ? makeTraffic(chain, folder, agents, stopping.signal) : undefined;
      const pages = { explorer: String(explorer.url), conviction: convictionPage(explorer.url, events) };
      await keepRunning(anvil.rpcUrl, chain, deployment, daemons, agents, pages);
      stopping.abort();
      await traffic;
    }
    stopping.abort();
    await following;
  } finally {
    stopping.abort();
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await anvil.stop();
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Makes the explorer's pages where there are none, or older ones. */
async function buildPages(timeline: Timeline): Promise<void> {
  // The bundler is loaded where it is needed.
  const { areFresh, buildPages } = await import("../tools/build-pages.ts");
  if (areFresh("explorer")) return;
  timeline.log("building the explorer's pages");
  await buildPages("explorer");
}

async function deploy(
  rpcUrl: string,
  folder: string,
  artifacts: ReturnType<typeof loadArtifacts>,
  timeline: Timeline,
): Promise<Chain> {
  const account = privateKeyToAccount(keyOf("deployer"));
  const gas = JSON.parse(readFileSync(join(projectRoot, "protocol/rules/generated/gas.json"), "utf8")) as {
    gasBase: number;
    gasPerDemand: number;
  };
  const deployment = await deploySystem({
    client: createClient(rpcUrl),
    account,
    artifacts,
    constants: {
      answerSeconds: ANSWER_SECONDS,
      gasPriceFloor: 10n ** 9n,
      gasBase: BigInt(gas.gasBase),
      gasPerDemand: BigInt(gas.gasPerDemand),
    },
    pollIntervalMs: 100,
  });
  writeDeployment(join(folder, "deployment.json"), deployment);
  const chain = await connect({ rpcUrl, deployment, account });
  const { sender, close } = openDataFolder(join(folder, "deployer"), requireAccount(chain), [], {
    pollIntervalMs: 100,
  });
  try {
    for (const name of MODELS) {
      const loaded = loadModelFolder(modelFolder(name));
      const { model, commitment, selector, laneBits: lanes, manifest } = loaded;
      const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
      const { modelId } = await registerModel(chain, sender, encodeProgram(model.program), identity);
      timeline.log(`registered ${name}: ${model.program.steps.length} steps, model ${modelId.slice(0, 18)}…`);
      await openLanes(requireAccount(chain), sender, loaded, (line) => timeline.log(line));
    }
    await depositStakes(requireAccount(chain), sender, [
      addressOf("honest prover"),
      addressOf("dishonest prover"),
    ]);
    // From here on blocks come by time.
    const control = createTestClient({ mode: "anvil", transport: http(rpcUrl) });
    await control.setAutomine(false);
    await control.setIntervalMining({ interval: 1 });
  } finally {
    await close();
  }
  return chain;
}

/** Asks in every lane and waits for finality. */
async function inEveryLane(
  { deployment, client }: Chain,
  folder: string,
  events: readonly ChainEvent[],
  timeline: Timeline,
): Promise<LaneQuestion[]> {
  const account = privateKeyToAccount(keyOf("lanes' requester"));
  const chain = requireAccount(await connect({ rpcUrl: client.transport.url ?? "", deployment, account }));
  const options = { pollIntervalMs: 100 };
  const { sender, close } = openDataFolder(join(folder, "requester"), chain, [], options);
  try {
    const { headlines, prices } = readInput();
    const { series: _, ...lists } = prices;
    const text = headlines[1] ?? "";
    const ask = (name: (typeof MODELS)[number], label: string, inputs: Readonly<Record<string, unknown>>) =>
      askLanes(
        { chain, sender },
        loadModelFolder(modelFolder(name)),
        { name, label, inputs },
        addressOf("honest prover"),
        (id, lane) => timeline.nameQuestion(id, `${label}, ${name}, ${lane}`),
      );
    const askAllLanes = async () => [
      ...(await ask("sentiment", "headline 2", { text })),
      ...(await ask("sentiment-words", "headline 2", { text })),
      ...(await ask("forecast-vix", "forecast", lists)),
    ];
    const questions = await timeline.during(() => "asking in every lane", askAllLanes());
    const waiting = () => timeline.labelsOf(openOf(questions, events).map(({ id }) => id));
    const untilFinal = async () => {
      const startMs = Date.now();
      while (openOf(questions, events).length > 0) {
        if (Date.now() - startMs > LIMIT_MS) timedOut(waiting());
        await pause(200, new AbortController().signal);
      }
    };
    await timeline.during(() => `waiting for finality of ${waiting()}`, untilFinal());
    return questions;
  } finally {
    await close();
  }
}

const readInput = (): Input =>
  JSON.parse(readFileSync(join(projectRoot, "cli/demo/input.json"), "utf8")) as Input;

function timedOut(what: string): never {
  throw new BaseError({
    code: "DEMO_TIMED_OUT",
    shortMessage: `After ${LIMIT_MS / 1_000} s there is no final answer for ${what}.`,
    nextStep: "Run it again on a machine that is less busy, or read the logs with --keep.",
  });
}

interface Asked extends Question {
  readonly agent: Agent;
  readonly text: string;
}

/** One headline goes to the dishonest prover first, the rest to the honest one. */
async function askAll(
  agents: { readonly sentiment: Agent; readonly forecast: Agent },
  timeline: Timeline,
): Promise<Asked[]> {
  const { headlines, prices } = readInput();
  const { series, ...lists } = prices;
  const questions = [
    ...headlines.map((text, i) => ({
      agent: agents.sentiment,
      label: `headline ${i + 1}`,
      text,
      inputs: { text },
      prover: i === 0 ? addressOf("dishonest prover") : addressOf("honest prover"),
      exclusiveSeconds: i === 0 ? 5 : 120,
    })),
    {
      agent: agents.forecast,
      label: "forecast",
      text: series,
      inputs: lists,
      prover: addressOf("honest prover"),
      exclusiveSeconds: 120,
    },
  ];
  const asked: Asked[] = [];
  for (const { agent, text, ...question } of questions) {
    const { label, requestId } = await agent.ask(question);
    timeline.nameQuestion(requestId, label);
    timeline.log(`${label.padEnd(11)} asked: "${text}"`);
    asked.push({ label, requestId, agent, text });
  }
  return asked;
}

/** Waits until the contracts hold an answer to every question. */
async function answersOf(asked: readonly Asked[], timeline: Timeline): Promise<void> {
  let open = asked;
  const labels = () => open.map(({ label }) => label).join(", ");
  const untilAnswered = async () => {
    const startMs = Date.now();
    while (open.length > 0) {
      const answers = await Promise.all(open.map(({ agent, requestId }) => agent.answerTo(requestId)));
      open = open.filter((_, i) => answers[i] === undefined);
      if (open.length > 0 && Date.now() - startMs > LIMIT_MS) timedOut(labels());
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  await timeline.during(() => `waiting for the final answers to ${labels()}`, untilAnswered());
}

async function report(asked: readonly Asked[], chain: Chain, timeline: Timeline): Promise<void> {
  console.log("\nWhat the agent's contracts received, final:");
  for (const { agent, requestId, text } of asked) {
    const answer = await agent.answerTo(requestId);
    if (answer !== undefined) console.log(`  ${text}\n    ${outputLine(answer)}`);
  }
  console.log("\nCredited in Assay:");
  for (const [name, wei] of timeline.credited) console.log(`  ${name.padEnd(22)} ${formatAmount(wei)}`);
  const gone = await chain.client.getBalance({ address: chain.game.assay });
  console.log(`  (${formatAmount(gone)} are still in the contract: credits, and what is burned)`);
}

async function makeTraffic(
  chain: Chain,
  folder: string,
  agents: { readonly sentiment: Agent; readonly forecast: Agent },
  signal: AbortSignal,
): Promise<void> {
  const { headlines, prices } = readInput();
  const { series: _, ...lists } = prices;
  await keepAsking(
    {
      ...{ chain, folder, agents, headlines, prices: lists },
      requester: privateKeyToAccount(keyOf("lanes' requester")),
      provers: { honest: addressOf("honest prover"), dishonest: addressOf("dishonest prover") },
      onFault: (error) => reportError(error, { debug: false }),
    },
    signal,
  );
}

/** Where the arithmetic of the first conviction is shown. */
function convictionPage(explorer: unknown, events: readonly ChainEvent[]): string {
  const fell = events.find((event) => event.name === "Fell");
  return `${explorer}/claims/${fell?.args.claimId}/dispute`;
}

try {
  const hasTraffic = process.argv.includes("--traffic");
  await main(hasTraffic || process.argv.includes("--keep"), hasTraffic);
} catch (error) {
  process.exitCode = reportError(error, { debug: process.argv.includes("--debug") });
}
