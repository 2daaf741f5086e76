/** Gas of moves as whole transactions on a local chain, and a whole dispute. */
import { toHex } from "../base/bytes.ts";
import { createRng } from "../conformance/generate/rng.ts";
import { encodeInput } from "../inference/codecs/input.ts";
import { execute } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { fileBondedClaim, PROVER } from "./bonded-claim.ts";
import { type BenchChain, eventOf, openBenchChain, SELECTOR } from "./chain.ts";
import { measureDispute } from "./dispute.ts";
import { limitModel, smallModel } from "./limit-model.ts";
import { type Figure, gasFigure, grouped, type Part } from "./report.ts";

const LENGTHS = [64, 128, 256, 384, 512, 768, 992];

/** Figures of section 10 of the design. */
const LIMITS = { request: 58_000, claim: 70_000, finalize: 66_000, conviction: 180_000 };
const DISPUTE = { gas: 760_000, transactions: 7, seconds: 10 };

export async function onChain<T>(
  work: (bench: BenchChain) => Promise<T>,
  hardfork?: "cancun" | "prague",
): Promise<T> {
  const bench = await openBenchChain(hardfork);
  try {
    return await work(bench);
  } finally {
    await bench.close();
  }
}

/** Requests, claims and ends of two requests: what the first one writes into empty storage, the second finds. */
async function moves(bench: BenchChain): Promise<Figure[]> {
  const model = smallModel();
  const modelId = await bench.register(model);
  const prepared = prepare(model, SELECTOR);
  const rng = createRng(3);
  const round = async (name: string, isFirst: boolean): Promise<Figure[]> => {
    const bytes = rng.bytes(model.program.inputSize).map((byte) => byte || 1);
    const input = encodeInput(model.program, SELECTOR, { codec: "raw", bytes });
    const output = execute(prepared, input);
    const filed = await fileBondedClaim(bench, { modelId, input: toHex(input), output: toHex(output) });
    const { windowEnd } = eventOf(filed.claimed, "Claimed");
    await bench.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd) });
    const end = await bench.send(PROVER, bench.actions.finalize(filed.request, filed.claim));
    const { request, claim, finalize } = LIMITS;
    return [
      gasFigure(
        `request, ${input.length}-byte input${name}`,
        filed.requested.receipt.gasUsed,
        isFirst ? undefined : request,
      ),
      gasFigure(
        `claim, ${output.length}-byte output${name}`,
        filed.claimed.receipt.gasUsed,
        isFirst ? undefined : claim,
      ),
      gasFigure(`finalize${name}`, end.receipt.gasUsed, finalize),
    ];
  };
  const first = await round(", the prover's first", true);
  return [...(await round("", false)), ...first.slice(2)];
}

/** Every dispute but a deployment's first finds burned ether in the books; the first pays for their storage slot. */
export async function firstDispute(bench: BenchChain): Promise<void> {
  await measureDispute(bench, limitModel(LENGTHS[0] as number));
}

async function dispute(bench: BenchChain): Promise<Figure[]> {
  await firstDispute(bench);
  const measured = await measureDispute(bench, limitModel(768));
  const total = measured.moves.reduce((sum, { gas }) => sum + gas, 0n);
  const { seconds, transactions } = DISPUTE;
  const count = measured.moves.length;
  return [
    {
      name: "time, windows excluded",
      value: `${measured.seconds.toFixed(1)} s`,
      target: `≤ ${seconds} s`,
      isMet: measured.seconds <= seconds,
    },
    {
      name: "transactions",
      value: `${count}`,
      target: `≤ ${transactions}`,
      isMet: count <= transactions,
    },
    gasFigure("gas", total, DISPUTE.gas),
    ...measured.moves.map(({ name, gas }, i) => gasFigure(`${i + 1}. ${name}`, gas)),
  ];
}

async function convictions(bench: BenchChain): Promise<Figure[]> {
  await firstDispute(bench);
  const figures: Figure[] = [];
  for (const length of LENGTHS) {
    const { moves: made } = await measureDispute(bench, limitModel(length));
    const { gas } = made[made.length - 1] as (typeof made)[number];
    figures.push(gasFigure(`K = ${grouped(length)}`, gas, length === 768 ? LIMITS.conviction : undefined));
  }
  return figures;
}

export const GAS_PARTS: readonly Part[] = [
  {
    name: "moves",
    title: "Gas of a request without a dispute",
    method:
      "Whole transactions on anvil, calldata without zero bytes where content is free. Canonical calldata is 4 bytes more than a multiple of 32, so the input has 292 bytes where the target says 284. A prover's first end also pays for the storage slot of its credit.",
    run: () => onChain(moves),
  },
  {
    name: "dispute",
    title: "A whole dispute",
    method:
      "64 steps, tensors of 128 KB, every one of them full, one wrong element in a DOT step of K = 768. Both sides compute everything that they need in this time: re-execution, both traces, openings. It is not the deployment's first dispute, which pays 17,100 gas more for the storage slot of burned ether.",
    run: () => onChain(dispute),
  },
  {
    name: "conviction",
    title: "Conviction by length of the dot product",
    method:
      "The conviction of such a dispute as a whole transaction: openings of the output's word, the row of activations and the row of weights, and their paths.",
    run: () => onChain(convictions),
  },
];
