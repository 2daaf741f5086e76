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
import type { ReadParts } from "./parts.ts";
import { modelUnknown } from "./unknown.ts";

/** Accounts that are shown with a model. */
const MAX_ACCOUNTS = 100;

export async function modelPage(parts: ReadParts, { limit, before }: PageQuery): Promise<ModelPage> {
  const rows = parts.index.tables.models(before ?? Number.MAX_SAFE_INTEGER, limit + 1);
  const page = pageOf(rows, limit, (row) => row);
  const items = await Promise.all(page.items.map((row) => summaryOf(parts, row, wordOf(row))));
  return { ...page, items };
}

/** @throws TypeError for a word of no model: the registry wrote it */
function wordOf({ id, word }: KeptModel): ModelWord {
  const decoded = decodeModelWord(word);
  if (decoded === undefined) throw new TypeError(`The word of model ${id} is that of none.`);
  return decoded;
}

async function summaryOf(parts: ReadParts, row: KeptModel, word: ModelWord): Promise<ModelSummary> {
  const { index, library, reads } = parts;
  const { id } = row;
  const shelved = library.get(id);
  const sum = index.sums.get("model", id);
  const newest = (name: string) =>
    index.tables.moves("m.model_id = ? AND m.name = ?", "ORDER BY m.seq DESC LIMIT 1", [id, name]).at(0);
  const [halted, lastRequest] = [newest("ProofHalted"), newest("Requested")];
  const lanes = laneNames(word.lanes);
  const isPublished = (word.lanes & LANE.EXECUTION) === 0 ? false : await reads.isPublished(id);
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
    ...(isPublished === undefined ? {} : { isPublished }),
    steps: word.steps,
    depth: word.depth,
    maxCalldata: word.maxCalldata,
    outputLength: word.outputLength,
    inputCodec: word.inputCodec,
    outputCodec: word.outputCodec,
    ...(keyOrigin === undefined ? {} : { keyOrigin }),
    registeredAt: {
      block: blockOf(row.seq),
      time: index.tables.timeOf(blockOf(row.seq)),
      transaction: row.tx,
    },
    requests: Number(amountIn(sum, "requests")),
    claims: Number(amountIn(sum, "claims")),
    falls: Number(amountIn(sum, "falls")),
    ...(lastRequest === undefined ? {} : { lastRequestAt: lastRequest.time }),
    use: lanes.map((lane) => useOf(parts, id, lane)),
  };
}

function originOf(manifest: NonNullable<ReturnType<ReadParts["library"]["get"]>>["manifest"]) {
  return isProofManifest(manifest) ? manifest.assay.ezkl.srs : manifest.assay.keyOrigin;
}

function useOf(parts: ReadParts, id: Hex, lane: LaneName): ModelSummary["use"][number] {
  const seconds = waitsOf(parts, lane, id);
  const gas = gasOf(parts.index.sums.get("modelLane", `${id}:${lane}`));
  return { lane, final: seconds?.count ?? 0, seconds, gas };
}

/** @throws BaseError MODEL_UNKNOWN */
export async function modelView(parts: ReadParts, id: Hex): Promise<Model> {
  const { index, library, reads, chain } = parts;
  const row = index.tables.model(id);
  if (row === undefined) throw modelUnknown(id);
  const word = wordOf(row);
  const shelved = library.get(id);
  const [summary, program, gasPrice, weightsRoot] = await Promise.all([
    summaryOf(parts, row, word),
    library.program(id).catch(() => undefined),
    reads.claimGasPrice(),
    weightsRootOf(parts, id),
  ]);
  const files = library.files(id);
  const card = library.text(id, "README.md");
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
    ...evaluationOf(parts, id),
    ...(card === undefined ? {} : { card }),
    hasProgram: program !== undefined,
    hasWeights: files.some(({ name }) => name === "weights.bin"),
    files,
    ...executionGasOf(word, program),
    ...(gasPrice === undefined || (word.lanes & LANE.BOND) === 0
      ? {}
      : { bond: bondView(chain.constants, gasPrice, word.depth) }),
    ...accountsOf(parts, id),
    askable: parts.provers.serving(id),
  };
}

function bondView(constants: ReadParts["chain"]["constants"], gasPrice: bigint, depth: number) {
  const { bond, ticketBond } = bondsOf(constants, { gasPrice, depth, minBond: 0n, attempt: 0 });
  return { gasPrice: `${gasPrice}`, bond: `${bond}`, ticketBond: `${ticketBond}` };
}

async function weightsRootOf({ library, chain }: ReadParts, id: Hex): Promise<string | undefined> {
  const manifest = library.get(id)?.manifest;
  if (manifest !== undefined && !isProofManifest(manifest)) return manifest.assay.weightsRoot;
  return new StateReader(chain).weightsRoot(id as ModelId).catch(() => undefined);
}

function evaluationOf({ library }: ReadParts, id: Hex): Pick<Model, "evaluation"> {
  const text = library.text(id, "eval.json");
  return text === undefined ? {} : { evaluation: JSON.parse(text) as Record<string, unknown> };
}

const executionGasOf = ({ lanes }: ModelWord, program: Program | undefined): Pick<Model, "executionGas"> =>
  program === undefined || (lanes & LANE.EXECUTION) === 0
    ? {}
    : { executionGas: `${estimateInferenceGas(program)}` };

function accountsOf({ index }: ReadParts, id: Hex): Pick<Model, "provers" | "challengers"> {
  const own = (scope: "prover" | "challenger", first: string) =>
    index.sums
      .below(scope, pairOf(id, "0x"))
      .map(({ id: pair, last, values }) => ({
        account: pair.slice(id.length + 1),
        count: Number(amountIn(values, first)),
        falls: Number(amountIn(values, "falls")),
        at: index.tables.timeOf(blockOf(last)),
      }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_ACCOUNTS);
  return {
    provers: own("prover", "claims").map(({ account, count, falls, at }) => ({
      account,
      claims: count,
      falls,
      lastClaimAt: at,
    })),
    challengers: own("challenger", "tickets").map(({ account, count, at }) => ({
      account,
      tickets: count,
      lastTicketAt: at,
    })),
  };
}
