/** `npm run demo:agent`: an agent whose iterations an executor decides off chain, with a verified tool.
 *
 *  First attested: the agent's contract asks for each iteration by an event; an executor process asks a language model (the
 *  local one if `assay agent llama install` put it there, else a scripted stand-in) and posts the choice with the hash of
 *  its signed transcript. Then final: each choice is an output of a language model of integers, claimed with a bond; a
 *  prover lies about one, and is convicted. The tool's output comes back only when it is final in both.
 *  --scripted: no local model; --keep: see below. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { SMALL_MODEL } from "../agent/executor/models/llama/install.ts";
import { fromHex } from "../base/bytes.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import { connect, createClient } from "../protocol/chain/connect.ts";
import { deploySystem } from "../protocol/chain/deploy.ts";
import { writeDeployment } from "../protocol/chain/deployment-file.ts";
import { registerModel } from "../protocol/chain/register.ts";
import { requireAccount, type SigningChain } from "../protocol/chain/sender.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { ANVIL_KEYS, startAnvil } from "./anvil.ts";
import { loadArtifacts } from "./artifacts.ts";
import { followRun } from "./demo/agent-run.ts";
import { CallbackDemo, SENTIMENT_TOOL } from "./demo/callback-agent.ts";
import {
  CHOICE_MODEL,
  choiceText,
  deployFinalChoices,
  logClaims,
  type ModelIds,
  RULE,
} from "./demo/final-choices.ts";
import { type FoundModel, findLocalModel } from "./demo/local-model.ts";
import { folderOf } from "./demo/models.ts";
import { type Daemon, type DaemonOptions, DISHONEST_PROVER, startDaemon } from "./demo/processes.ts";
import { Progress } from "./demo/progress.ts";
import { startScriptedModel } from "./demo/scripted-model.ts";
import { modelFolder } from "./model-source.ts";
import { reportError } from "./output.ts";

const QUESTION = "Profit beats forecasts, shares jump to a record";
const ANSWER_SECONDS = 5;
const [OWNER, PROVER, EXECUTOR, CHEAT, CHALLENGER, HONEST] = ANVIL_KEYS as unknown as readonly Hex[] &
  readonly [Hex, Hex, Hex, Hex, Hex, Hex];

/** --keep: the folders of the processes stay, with logs and transcripts. */
const isKept = process.argv.includes("--keep");
const startMs = Date.now();
const progress = new Progress(startMs);
const log = (line: string): void => progress.log(line);

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "assay-demo-"));
  const isScripted = process.argv.includes("--scripted");
  const { folder: llama, lookedIn }: FoundModel = isScripted ? { lookedIn: [] } : findLocalModel(process.env);
  const scripted = llama === undefined ? await startScriptedModel(SENTIMENT_TOOL) : undefined;
  log("compiling the contracts");
  const artifacts = loadArtifacts();
  const anvil = await startAnvil();
  const daemons: Daemon[] = [];
  try {
    const chain = await progress.during(() => "deploying", deploy(anvil.rpcUrl, folder, artifacts));
    const models = await progress.during(() => "registering the models", register(chain, folder));
    const demo = await CallbackDemo.deploy(chain, anvil.rpcUrl, {
      modelId: models.sentiment,
      llm: SMALL_MODEL.name,
      executors: [privateKeyToAccount(EXECUTOR).address],
      threshold: 1,
      iterationSeconds: 600,
    });
    log(`an agent at ${demo.agent} with one tool, ${SENTIMENT_TOOL}, and one executor`);
    const control = createTestClient({ mode: "anvil", transport: http(anvil.rpcUrl) });
    await control.setAutomine(false);
    await control.setIntervalMining({ interval: 1 });
    const common = { folder, rpcUrl: anvil.rpcUrl, deployment: join(folder, "deployment.json") };
    const model = [
      ...["--model", `${SMALL_MODEL.name}=${llama === undefined ? "openai:scripted" : "llama"}`],
      ...(llama === undefined ? ["--endpoint", scripted?.url ?? ""] : ["--llama", llama]),
    ];
    const executor = ["agent", "executor", "--agents", demo.agent, ...model];
    daemons.push(
      startDaemon({
        ...common,
        name: "prover",
        key: PROVER,
        args: [...PROVER_ARGS, "--models", folderOf(folder, "sentiment", ["sentiment"])],
      }),
      startDaemon({ ...common, name: "executor", key: EXECUTOR, args: executor }),
    );
    const up = [daemons[0]?.logged("prover is up"), daemons[1]?.logged("executor is up")];
    await progress.during(() => "starting the prover and the executor", Promise.all(up));
    log(
      llama === undefined
        ? `${isScripted ? "" : `there is no local model in ${lookedIn.join(" or ")}: `}a scripted one decides`
        : `${SMALL_MODEL.name} decides`,
    );
    const runId = await demo.ask(QUESTION);
    log(`asked: "${QUESTION}"`);
    await progress.during(() => "waiting for the run to go on", followRun(demo, runId, "the executor", log));
    log(
      "what the tool returned is verified, it was final; that this tool was to be used is attested by the executor",
    );
    await actWithFinalChoices(chain, models, common, daemons);
    if (isKept)
      log(`transcripts of the attested run: assay agent transcript show --data ${join(folder, "executor")}`);
  } finally {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await scripted?.stop();
    await anvil.stop();
  }
  if (!isKept) rmSync(folder, { recursive: true, force: true });
}

async function deploy(
  rpcUrl: string,
  folder: string,
  artifacts: ReturnType<typeof loadArtifacts>,
): Promise<SigningChain> {
  const account = privateKeyToAccount(OWNER);
  const constants = {
    answerSeconds: ANSWER_SECONDS,
    gasPriceFloor: 10n ** 9n,
    gasBase: 145_000n,
    gasPerDemand: 122_000n,
  };
  const client = createClient(rpcUrl);
  const deployment = await deploySystem({ client, account, artifacts, constants, pollIntervalMs: 100 });
  writeDeployment(join(folder, "deployment.json"), deployment);
  log(`deployed to a local chain at ${rpcUrl}, answer time T = ${ANSWER_SECONDS} s`);
  return requireAccount(await connect({ rpcUrl, deployment, account }));
}

async function register(chain: SigningChain, folder: string): Promise<ModelIds> {
  const { sender, close } = openDataFolder(join(folder, "owner"), chain, [], { pollIntervalMs: 100 });
  const one = async (name: string): Promise<ModelId> => {
    const loaded = loadModelFolder(modelFolder(name));
    const { model, commitment, selector, laneBits: lanes, manifest } = loaded;
    const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
    return (await registerModel(chain, sender, encodeProgram(model.program), identity)).modelId;
  };
  try {
    return { sentiment: await one("sentiment"), choice: await one(CHOICE_MODEL) };
  } finally {
    await close();
  }
}

const PROVER_ARGS = ["prover", "--port", "0"] as const;

type Common = Pick<DaemonOptions, "folder" | "rpcUrl" | "deployment">;

/** The same question to an agent whose choices have to be final. */
async function actWithFinalChoices(
  chain: SigningChain,
  models: ModelIds,
  common: Common,
  daemons: Daemon[],
): Promise<void> {
  log(
    "the same question, to an agent that nobody owns: each choice has to be a final output of a language model",
  );
  const { demo, executor } = await deployFinalChoices(chain, common.rpcUrl, models, 3_600);
  log(`its rule: "${RULE}"`);
  const start = (
    name: string,
    key: Hex,
    args: readonly string[],
    changes: Pick<DaemonOptions, "program"> = {},
  ) => {
    const daemon = startDaemon({ ...common, name, key, args, ...changes });
    daemons.push(daemon);
    return daemon;
  };
  const own = ["--models", folderOf(common.folder, CHOICE_MODEL, [CHOICE_MODEL])];
  const lies = ["--port", "0", ...own, "--fault", "output"];
  const cheat = start("cheat", CHEAT, lies, { program: DISHONEST_PROVER });
  const up = [
    cheat.logged("prover is up"),
    start("challenger", CHALLENGER, ["challenger", "defend", "--port", "0", ...own]).logged(
      "challenger is up",
    ),
    start("choices", EXECUTOR, ["agent", "executor", "--agents", demo.agent, "--final", executor]).logged(
      "executor is up",
    ),
  ];
  await progress.during(() => "starting a prover that lies, a challenger and the executor", Promise.all(up));
  const stopping = new AbortController();
  const text = choiceText();
  const following = logClaims(
    chain,
    {
      modelId: models.choice,
      names: new Map([
        [privateKeyToAccount(CHEAT).address, "a prover that lies"],
        [privateKeyToAccount(HONEST).address, "an honest prover"],
      ]),
      textOf: (output) => JSON.stringify(text.answerOf(fromHex(output)).text),
      log,
      onFall: () => {
        void cheat.stop();
        start("honest", HONEST, [...PROVER_ARGS, ...own]);
      },
    },
    stopping.signal,
  );
  const runId = await demo.ask(QUESTION);
  log(`asked: "${QUESTION}"`);
  try {
    await progress.during(() => "waiting for the run to go on", followRun(demo, runId, "the chain", log));
  } finally {
    stopping.abort();
    await following;
  }
  log(
    "that these were the model's choices is final; that they are wise is nobody's claim: it is a small model",
  );
}

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error, { debug: process.argv.includes("--debug") });
}
