/** What promises cost: gas of batches, by part and by chain, beside single claims; a leaf's dispute; a contract's read. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../tools/foundry.ts";
import { onChain } from "../gas.ts";
import { type Figure, gasFigure, grouped, type Measured, type Part, type Table } from "../report.ts";
import { type PostedBatch, PromiseBench, type SingleClaim } from "./gas.ts";

const COUNTS = [1, 16, 128, 1_024];
const LIMITS = { execution: 500, read: 30_000, dispute: 800_000 };
/** Gas of a transaction, of a token of calldata and of a byte of a log. */
const TRANSACTION = 21_000;
const TOKEN = 4;
const LOG_BYTE = 8;

/** A chain's prices, as inputs of the table and nothing more: put in those of your day. */
interface Prices {
  readonly name: string;
  /** gwei a unit of gas */
  readonly gas: number;
  /** true: 40 gas a byte at least where data are most of a transaction (EIP-7623); false: 16 */
  readonly floor: boolean;
  /** absent: there is no data fee beside gas */
  readonly blobs?: {
    /** gwei on the chain that takes the data: a unit of gas, and of blob gas */
    readonly baseFee: number;
    readonly blobBaseFee: number;
    /** as the rollup's system contract states them, millionths */
    readonly baseFeeScalar: number;
    readonly blobBaseFeeScalar: number;
  };
}

const PRICES: readonly Prices[] = [
  { name: "16 gas a byte, 1 gwei", gas: 1, floor: false },
  { name: "40 gas a byte, 1 gwei", gas: 1, floor: true },
  {
    name: "rollup, 0.01 gwei, blobs",
    gas: 0.01,
    floor: true,
    blobs: { baseFee: 1, blobBaseFee: 1, baseFeeScalar: 2_269, blobBaseFeeScalar: 1_055_762 },
  },
];

/** Data fee of the OP stack since Ecotone: bytes at 16 (zeros at 4), times (16 · scalar · base fee + blob scalar · blob
 *  base fee) / 16. Fjord counts compressed bytes instead, which are fewer. @returns gwei */
function dataFee(
  tokens: number,
  { baseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar }: Required<Prices>["blobs"],
): number {
  const weighted = (16 * baseFeeScalar * baseFee + blobBaseFeeScalar * blobBaseFee) / 1e6;
  return (TOKEN * tokens * weighted) / 16;
}

interface Pair {
  /** without the floor, and with it */
  readonly plain: PostedBatch;
  readonly floored: PostedBatch;
}

function singleOf(singles: readonly SingleClaim[], model: string): SingleClaim {
  const found = singles.find((one) => one.model === model);
  if (found === undefined) throw new Error(`No single claim of ${model} was measured.`);
  return found;
}

const executionOf = ({ gas, tokens, bytes, count }: PostedBatch): number =>
  (gas - TRANSACTION - TOKEN * tokens - LOG_BYTE * bytes) / count;

function gasTable(pairs: readonly Pair[], singles: readonly SingleClaim[]): Table {
  const rows = pairs.map(({ plain, floored }) => {
    const { model, count, bytes, tokens } = plain;
    const single = singleOf(singles, model).gas;
    return [
      `${model}, ${grouped(count)}`,
      grouped(Math.round(bytes / count)),
      grouped(plain.gas),
      grouped(floored.gas),
      grouped(Math.round((TOKEN * tokens + LOG_BYTE * bytes) / count)),
      grouped(Math.round(executionOf(plain))),
      grouped(Math.round(floored.gas / count)),
      `${(single / (floored.gas / count)).toFixed(1)}×`,
    ];
  });
  return {
    columns: [
      "batch",
      "bytes a leaf",
      "transaction, 16 a byte",
      "transaction, 40 a byte",
      "an inference: data",
      "execution",
      "all, 40 a byte",
      "cheaper than a single claim",
    ],
    rows,
  };
}

function costTable(pairs: readonly Pair[], singles: readonly SingleClaim[]): Table {
  const largest = pairs.filter((pair, i) => pairs[i + 1]?.plain.model !== pair.plain.model);
  const rows = PRICES.flatMap((prices) =>
    largest.map(({ plain, floored }) => {
      const { model, count } = plain;
      const cost = ({ gas, tokens }: { readonly gas: number; readonly tokens: number }): number =>
        gas * prices.gas + (prices.blobs === undefined ? 0 : dataFee(tokens, prices.blobs));
      const inference = cost(prices.floor ? floored : plain) / count;
      const single = cost(singleOf(singles, model));
      return [prices.name, `${model}, ${grouped(count)}`, inference.toFixed(1), grouped(Math.round(single))];
    }),
  );
  return {
    columns: ["chain", "batch", "gwei an inference", "gwei a single claim"],
    rows,
  };
}

async function promises(): Promise<Measured> {
  const plain = await onChain(async (bench) => (await PromiseBench.open(bench)).batches(COUNTS), "cancun");
  const { floored, singles, dispute } = await onChain(async (bench) => {
    const measured = await PromiseBench.open(bench);
    return {
      floored: await measured.batches(COUNTS),
      singles: await measured.singles(),
      dispute: await measured.dispute(Math.max(...COUNTS)),
    };
  });
  const pairs = plain.map((one, i): Pair => ({ plain: one, floored: floored[i] as PostedBatch }));
  const headlines = pairs.find(({ plain: one }) => one.count === Math.max(...COUNTS)) as Pair;
  const execution = Math.round(executionOf(headlines.plain));
  const inAll = dispute.reduce((sum, { gas }) => sum + gas, 0);
  const figures: Figure[] = [
    gasFigure("execution an inference, batch of 1,024 headlines", BigInt(execution), LIMITS.execution),
    gasFigure("requireFinalLeaf, all storage cold", BigInt(readGas()), LIMITS.read),
    gasFigure("a wrong leaf, from opening to close", BigInt(inAll), LIMITS.dispute),
    ...dispute.map(({ name, gas }, i) => gasFigure(`${i + 1}. ${name}`, BigInt(gas))),
  ];
  return {
    figures,
    tables: [gasTable(pairs, singles), costTable(pairs, singles)],
    rows: [
      row("execution gas an inference above its data", execution, LIMITS.execution),
      row("requireFinalLeaf gas", readGas(), LIMITS.read),
      row("gas of a leaf's dispute", inAll, LIMITS.dispute),
      row(
        "gas of a headline in a batch of 1,024 at 40 gas a byte, and of a single claim of it",
        Math.round(headlines.floored.gas / headlines.floored.count),
        singleOf(singles, headlines.floored.model).gas,
      ),
    ],
  };
}

const row = (figure: string, value: number, target: number) => ({
  figure,
  value,
  target,
  met: value <= target,
});

/** From the gas snapshot, which \`npm run snapshot:check\` holds. */
function readGas(): number {
  const path = join(projectRoot, "bench/gas-snapshots/promises.json");
  const snapshot = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, string>>;
  return Number(snapshot["requireFinalLeaf, of 1,024"]);
}

export const PROMISES_PART: Part = {
  name: "promises",
  title: "Gas of promises",
  method:
    "Whole transactions on anvil with right outputs of `models/sentiment` for headlines of at most 100 bytes and of `models/forecast-eth` for daily prices. 16 a byte: a chain of Cancun; 40 a byte: one of Prague, where the floor of EIP-7623 covers execution and log. Data are 16 gas for a byte of calldata (4 for a zero) and 8 for one of the log; execution is what is left beside the transaction's 21,000. A single claim is its request, claim and end. The leaf's dispute is one over a wrong element of the last DOT step. The prices of the second table are examples: put in those of the day; a rollup's data fee is that of the OP stack since Ecotone, without compression.",
  run: promises,
};
