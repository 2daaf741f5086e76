/** An explorer in this process, over a played deployment on a local chain. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelFolder } from "../../cli/model-source.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import type { Claim, ModelId } from "../../protocol/rules/types.ts";
import { startLocalChain } from "./anvil.ts";
import { deployLocal, LOCAL_CONSTANTS, temporaryFolder } from "./deploy.ts";
import { caughtUp, startLocalExplorer } from "./local-explorer.ts";
import { documentOf, expectDocumented } from "./openapi.ts";
import { openPlayedClaims, type PlayedClaims, playerAddress } from "./played-claims.ts";
import { encodeText } from "./sentiment-call.ts";

export const MODEL = loadModelFolder(modelFolder("sentiment"));
export const TEXT = "Profit doubles at Acme";
export const CALLDATA = encodeText(MODEL, TEXT);

export type PlayedExplorer = Awaited<ReturnType<typeof startPlayedExplorer>>;

/** Plays a claim that becomes final, one that is not over, and one that falls for each fault; then starts an explorer.
 *  @param faults as a dishonest prover's `--fault` */
export async function startPlayedExplorer(faults: readonly string[]) {
  const folder = temporaryFolder();
  const local = await startLocalChain();
  // Time passes where a test lets it pass, not because a machine is slow.
  const deployment = await deployLocal(local, { ...LOCAL_CONSTANTS, answerSeconds: 300 });
  const played = await openPlayedClaims(local, deployment, folder.path, MODEL);
  const { chain, players, modelId } = played;
  await publishWeights(chain, players.requester.sender, modelId as ModelId, planPublication(MODEL.model));
  const claims = await play(played, faults, local.passTime);
  mkdirSync(join(folder.path, "pages", "assets"), { recursive: true });
  writeFileSync(join(folder.path, "pages", "index.html"), "<!doctype html><title>Explorer</title>");
  writeFileSync(join(folder.path, "pages", "assets", "main-abc123.js"), "export {};\n");
  const explorer = await startLocalExplorer({
    chain: await connect({ rpcUrl: local.rpcUrl, deployment }),
    models: [join(modelFolder("sentiment"), "..")],
    data: join(folder.path, "explorer"),
    pagesFolder: join(folder.path, "pages"),
  });
  const { url } = explorer;
  const document = await documentOf(url);
  const get = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init);
  await caughtUp(url, chain);
  return {
    ...claims,
    local,
    played,
    document,
    get,
    caughtUp: () => caughtUp(url, chain),
    /** A documented answer. @param route as the document names it @param path with its values */
    ask: async (route: string, path: string): Promise<unknown> =>
      expectDocumented(document, `GET ${route}`, await get(path)),
    stop: async () => {
      await explorer.stop();
      await played.close();
      await local.stop();
      folder.remove();
    },
  };
}

async function play(
  played: PlayedClaims,
  faults: readonly string[],
  passTime: (seconds: number) => Promise<void>,
) {
  const { output } = played.honest(CALLDATA);
  const first = await played.request(CALLDATA);
  const final = await played.claim(first, output);
  await passTime(first.window + 1);
  await played.move("prover", played.actions.finalize(first, final));
  /** By fault. */
  const fallen = new Map<string, Claim>();
  let active = final;
  for (const fault of faults) {
    const request = await played.request(CALLDATA);
    const cheat = played.cheat(CALLDATA, fault);
    const claim = await played.claim(request, cheat.output);
    await played.dispute(request, claim, CALLDATA, cheat);
    await played.move("challenger", played.actions.collect(claim, playerAddress("challenger")));
    fallen.set(fault, claim);
    if (fault === faults[0]) active = await played.claim(request, output, 1);
  }
  return { final, fallen, active };
}
