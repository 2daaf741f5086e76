/** Models: what the registry, their folders and the deployment's events say of them. */
import { type Hex, numberToHex } from "viem";
import { isProofManifest } from "../../inference/manifest/proof-model.ts";
import type { Program } from "../../inference/program/form.ts";
import { estimateInferenceGas } from "../../protocol/chain/execution/cost.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import { LANE, type LaneName, type ModelId, ZERO_HASH } from "../../protocol/rules/types.ts";
import { decodeModelWord, type ModelWord } from "../../protocol/rules/words.ts";
import type { Model, ModelPage, ModelSummary } from "../api/types.ts";
import { pairOf } from "../index/deltas.ts";
import { blockOf } from "../index/moves.ts";
import { amountIn } from "../index/sums.ts";
import type { KeptModel } from "../index/tables.ts";
import { laneNames } from "./lists.ts";
import { gasOf, waitsOf } from "./overview.ts";
import { type PageQuery, pageOf } from "./paging.ts";
import { type AnswerParts, atOneBlock, type ReadParts } from "./parts.ts";
import { modelUnknown } from "./unknown.ts";

/** Accounts that are shown with a model. */
const MAX_ACCOUNTS = 100;

export async function modelPage(parts: AnswerParts, { limit, before }: PageQuery): Promise<ModelPage> {
  const page = await atOneBlock(parts, async (own) => {
    const rows = await own.index.tables.models(before ?? Number.MAX_SAFE_INTEGER, limit + 1);
    return pageOf(rows, limit, (row) => summaryOf(own, row, wordOf(row)));
  });
  return { ...page, items: await Promise.all(page.items.map((item) => withPublication(parts, item))) };
}

/** What only the node knows: whether the chain holds the weights of a model that the chain can run. */
async function withPublication<Shown extends ModelSummary>(
  { reads }: AnswerParts,
  model: Shown,
): Promise<Shown> {
  if (!model.lanes.includes("EXECUTION")) return { ...model, isPublished: false };
  const isPublished = await reads.isPublished(model.modelId as Hex);
  return isPublished === undefined ? model : { ...model, isPublished };
}

/** @throws TypeError for a word of no model: the registry wrote it */
function wordOf({ id, word }: KeptModel): ModelWord {
  const decoded = decodeModelWord(word);
  if (decoded === undefined) throw new TypeError(`The word of model ${id} is that of none.`);
  return decoded;
}

async function summaryOf(parts: ReadParts, row: KeptModel, word: ModelWord): Promise<ModelSummary> {
  const { index, library } = parts;
  const { id } = row;
  const shelved = library.get(id);
  const newest = async (name: string) => {
    const order = "ORDER BY m.seq DESC LIMIT 1";
    return (await index.tables.moves("m.model_id = ? AND m.name = ?", order, [id, name])).at(0);
  };
  const lanes = laneNames(word.lanes);
  const [sum, halted, lastRequest, time, use] = await Promise.all([
    index.sums.get("model", id),
    newest("ProofHalted"),
    newest("Requested"),
    index.tables.timeOf(blockOf(row.seq)),
    Promise.all(lanes.map((lane) => useOf(parts, id, lane))),
  ]);
  const keyOrigin = shelved && originOf(shelved.manifest);
  return {
    modelId: id,
    ...(shelved === undefined
      ? {}
      : {
          name: shelved.manifest.name,
          folder: shelved.folder,
          description: shelved.manifest.description,
        }),
    lanes,
    isProofHalted: halted !== undefined,
    steps: word.steps,
    depth: word.depth,
    maxCalldata: word.maxCalldata,
    outputLength: word.outputLength,
    inputCodec: word.inputCodec,
    outputCodec: word.outputCodec,
    ...(keyOrigin === undefined ? {} : { keyOrigin }),
    registeredAt: {
      block: blockOf(row.seq),
      time,
      transaction: row.tx,
    },
    requests: Number(amountIn(sum, "requests")),
    claims: Number(amountIn(sum, "claims")),
    falls: Number(amountIn(sum, "falls")),
    ...(lastRequest === undefined ? {} : { lastRequestAt: lastRequest.time }),
    use,
  };
}

function originOf(manifest: NonNullable<ReturnType<ReadParts["library"]["get"]>>["manifest"]) {
  return isProofManifest(manifest) ? manifest.assay.ezkl.srs : manifest.assay.keyOrigin;
}

async function useOf(parts: ReadParts, id: Hex, lane: LaneName): Promise<ModelSummary["use"][number]> {
  const [seconds, sum] = await Promise.all([
    waitsOf(parts, lane, id),
    parts.index.sums.get("modelLane", `${id}:${lane}`),
  ]);
  const gas = gasOf(sum);
  return { lane, final: seconds?.count ?? 0, seconds, gas };
}

/** @throws BaseError MODEL_UNKNOWN */
export async function modelView(parts: AnswerParts, id: Hex): Promise<Model> {
  const { library, reads, chain } = parts;
  const { word, kept, accounts } = await atOneBlock(parts, async (own) => {
    const row = await own.index.tables.model(id);
    if (row === undefined) throw modelUnknown(id);
    const word = wordOf(row);
    const [kept, accounts] = await Promise.all([summaryOf(own, row, word), accountsOf(own, id)]);
    return { word, kept, accounts };
  });
  const shelved = library.get(id);
  const [summary, program, gasPrice, weightsRoot, card, evaluation] = await Promise.all([
    withPublication(parts, kept),
    library.program(id).catch(() => undefined),
    reads.claimGasPrice(),
    weightsRootOf(parts, id),
    library.text(id, "README.md"),
    library.text(id, "eval.json"),
  ]);
  const files = library.files(id);
  const vkHash = shelved?.manifest.assay.vkHash;
  return {
    ...summary,
    selector: numberToHex(word.selector, { size: 4 }),
    ...(weightsRoot === undefined ? {} : { weightsRoot }),
    ...(vkHash === undefined || vkHash === ZERO_HASH ? {} : { vkHash }),
    inputSize: word.inputSize,
    weightTensors: word.weights,
    ...(shelved === undefined
      ? {}
      : {
          function: shelved.function as unknown as NonNullable<Model["function"]>,
          manifest: shelved.manifest as unknown as Record<string, unknown>,
        }),
    ...(evaluation === undefined ? {} : { evaluation: JSON.parse(evaluation) as Record<string, unknown> }),
    ...(card === undefined ? {} : { card }),
    hasProgram: program !== undefined,
    hasWeights: files.some(({ name }) => name === "weights.bin"),
    files: [...files],
    ...executionGasOf(word, program),
    ...(gasPrice === undefined || (word.lanes & LANE.BOND) === 0
      ? {}
      : { bond: bondView(chain.constants, gasPrice, word.depth) }),
    ...accounts,
    askable: parts.provers.serving(id),
  };
}

function bondView(constants: ReadParts["chain"]["constants"], gasPrice: bigint, depth: number) {
  const { bond, ticketBond } = bondsOf(constants, { gasPrice, depth, minBond: 0n, attempt: 0 });
  return { gasPrice: `${gasPrice}`, bond: `${bond}`, ticketBond: `${ticketBond}` };
}

async function weightsRootOf({ library, chain }: AnswerParts, id: Hex): Promise<string | undefined> {
  const manifest = library.get(id)?.manifest;
  if (manifest !== undefined && !isProofManifest(manifest)) return manifest.assay.weightsRoot;
  return new StateReader(chain).weightsRoot(id as ModelId).catch(() => undefined);
}

const executionGasOf = ({ lanes }: ModelWord, program: Program | undefined): Pick<Model, "executionGas"> =>
  program === undefined || (lanes & LANE.EXECUTION) === 0
    ? {}
    : { executionGas: `${estimateInferenceGas(program)}` };

async function accountsOf({ index }: ReadParts, id: Hex): Promise<Pick<Model, "provers" | "challengers">> {
  const own = async (scope: "prover" | "challenger", first: string) => {
    const all = (await index.sums.below(scope, pairOf(id, "0x")))
      .map(({ id: pair, last, values }) => ({
        account: pair.slice(id.length + 1),
        count: Number(amountIn(values, first)),
        falls: Number(amountIn(values, "falls")),
        last,
      }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_ACCOUNTS);
    return Promise.all(
      all.map(async (one) => ({ ...one, at: await index.tables.timeOf(blockOf(one.last)) })),
    );
  };
  const [provers, challengers] = await Promise.all([own("prover", "claims"), own("challenger", "tickets")]);
  return {
    provers: provers.map(({ account, count, falls, at }) => ({
      account,
      claims: count,
      falls,
      lastClaimAt: at,
    })),
    challengers: challengers.map(({ account, count, at }) => ({
      account,
      tickets: count,
      lastTicketAt: at,
    })),
  };
}
