/** A deployment with all that its pages show: models, provers, one that lies, a challenger, and an explorer. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keccak256 } from "viem";
import type { Daemon } from "../../cli/demo/processes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { encodeText } from "./sentiment-call.ts";
import { ROLES, type System, startSystem, systemAccount } from "./system.ts";

/** What a stranger writes into every field: markup, and a character that turns the direction of what follows. */
export const HOSTILE =
  '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script> abc\u202e123';

/** Seconds within which a prover answers: a demand that waits can be watched, and time is passed where it would be long. */
const ANSWER_SECONDS = 60;
/** The model whose manifest a stranger wrote. */
const STRANGE = "forecast-btc";
/** A model whose linear layers requantize. */
const FORECAST = "forecast-vix";

export interface ExplorerSystem {
  readonly system: System;
  readonly url: string;
  readonly explorer: Daemon;
  /** between the explorer and the chain's node */
  readonly node: RpcProxy;
  /** Asks for the sentiment of a text. @param by index of the account that alone may claim */
  askText(text: string, by?: number): ReturnType<System["ask"]>;
  /** Asks for a forecast of some days. @param seed another one makes other days */
  askForecast(seed: number, by?: number, lanes?: number): ReturnType<System["ask"]>;
  forecastInput(seed: number): Uint8Array;
  textInput(text: string): Uint8Array;
  hashOf(calldata: Uint8Array): string;
  /** A prover that lies as `fault` says, with account `index`. */
  startCheat(index: number, fault: string): Promise<void>;
  startChallenger(): Promise<Daemon>;
}

/** Starts it, without a cheat and a challenger; `system.stop` and `node.stop` end it. */
export async function startExplorerSystem(): Promise<ExplorerSystem> {
  const system = await startSystem({
    models: ["sentiment", FORECAST, STRANGE],
    answerSeconds: ANSWER_SECONDS,
  });
  const models = join(system.folder, "models");
  makeStrange(join(models, STRANGE));
  const { chain, sender } = await system.open("publisher", ROLES.deployer);
  const sentiment = system.model("sentiment");
  const forecast = system.model(FORECAST);
  for (const { model, modelId } of [sentiment, forecast]) {
    await publishWeights(chain, sender, modelId as ModelId, planPublication(model));
  }
  const node = await startRpcProxy(system.rpcUrl);
  const explorer = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0"], {
    rpcUrl: node.url,
  });
  const { url } = await explorer.logged("explorer is up");
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
  const forecastInput = (seed: number) =>
    selfTestCalldata(forecast.model.program, forecast.selector, 2 * seed);
  return {
    system,
    explorer,
    node,
    url: String(url),
    askText: (text, by = ROLES.prover) =>
      system.ask({
        model: sentiment,
        calldata: encodeText(sentiment, text),
        prover: systemAccount(by).address,
        lanes: LANE.BOND,
      }),
    askForecast: (seed, by = ROLES.prover, lanes = LANE.BOND) =>
      system.ask({
        model: forecast,
        calldata: forecastInput(seed),
        ...(lanes === LANE.BOND ? { prover: systemAccount(by).address } : {}),
        lanes,
      }),
    forecastInput,
    textInput: (text) => encodeText(sentiment, text),
    hashOf: (calldata) => keccak256(calldata),
    async startCheat(index, fault) {
      await system.cheat(`cheat-${index}`, index, fault).logged("prover is up");
    },
    async startChallenger() {
      const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
      await challenger.logged("challenger is up");
      return challenger;
    },
  };
}

/** Gives a model's folder the manifest, card and metrics that a stranger might write. */
function makeStrange(folder: string): void {
  cpSync(modelFolder(STRANGE), folder, { recursive: true });
  const path = join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  manifest.name = `Strange ${HOSTILE}`.slice(0, 100);
  manifest.description = HOSTILE;
  writeFileSync(path, JSON.stringify(manifest));
}
