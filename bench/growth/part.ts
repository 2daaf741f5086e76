/** How a dispute grows with the model: gas and moves from 10^3 to 1.35 · 10^8 parameters, as many as SmolLM2-135M has. */

import { type Mark, renderChart } from "../charts/chart.ts";
import { type DerivedSubject, shippedModels, withDerived } from "../derived.ts";
import { type MeasuredDispute, measureDispute } from "../dispute.ts";
import { firstDispute, onChain } from "../gas.ts";
import { layeredModel } from "../limit-model.ts";
import { asNode, type NodeFigures } from "../node.ts";
import { type Figure, grouped, type Measured, megabytes, type Part } from "../report.ts";
import { lastProduct } from "../sequences/dispute.ts";
import { inSeconds } from "../sequences/measured.ts";

/** Square layers that have about 10^3, 10^3.5, … 10^7 weights, then half a magnitude more each, up to those of SmolLM2-135M. */
const SHAPES = [
  [1, 32],
  [1, 56],
  [1, 100],
  [1, 178],
  [1, 316],
  [1, 562],
  [1, 992],
  [3, 992],
  [10, 992],
  [32, 992],
  [137, 992],
] as const;

interface GrowthPoint {
  /** of a derived model */
  readonly model?: string;
  readonly parameters: number;
  readonly moves: number;
  readonly gas: number;
  /** of both sides, from the mined claim to the mined conviction */
  readonly seconds: number;
  readonly side: Pick<NodeFigures, "commitSeconds" | "memory">;
}

/** What grows by this much more than the model is not a dispute that ends by bisection. */
const MOST_GROWTH = 2;

async function measure(): Promise<Measured> {
  const layered = await onChain(async (bench) => {
    await firstDispute(bench);
    const measured: GrowthPoint[] = [];
    for (const [layers, width] of SHAPES) {
      const dispute = await measureDispute(bench, layeredModel(layers, width), { step: layers });
      measured.push({
        parameters: layers * width * width,
        ...sumsOf(dispute),
        side: asNode({ layers, width }),
      });
    }
    return measured;
  });
  const derived: GrowthPoint[] = [];
  for (const shipped of shippedModels()) derived.push(await withDerived(shipped, derivedPoint));
  const points = [...layered, ...derived];
  return {
    figures: [growthOf(layered)],
    tables: [{ columns: COLUMNS, rows: points.map(cellsOf) }],
    rows: points,
    files: { "docs/charts/dispute-growth.json": chartOf(layered, derived) },
  };
}

const derivedPoint = ({ name, parameters, prepared, input, folder, calldata, output }: DerivedSubject) =>
  onChain(async (bench): Promise<GrowthPoint> => {
    await firstDispute(bench);
    const subject = { prepared, input, step: lastProduct(prepared.model) };
    const dispute = await measureDispute(bench, prepared.model, subject);
    return { model: name, parameters, ...sumsOf(dispute), side: asNode({ folder, calldata, output }) };
  });

const sumsOf = ({ moves, seconds }: MeasuredDispute) => ({
  moves: moves.length,
  gas: Number(moves.reduce((sum, move) => sum + move.gas, 0n)),
  seconds,
});

const COLUMNS = [
  "model",
  "parameters",
  "gas",
  "transactions",
  "dispute",
  "run and commitment",
  "memory of a side",
];

const cellsOf = ({ model = "square layers", parameters, moves, gas, seconds, side }: GrowthPoint) => [
  ...[model, grouped(parameters), grouped(gas), `${moves}`, inSeconds(seconds)],
  ...[inSeconds(side.commitSeconds), megabytes(side.memory)],
];

function growthOf(points: readonly GrowthPoint[]): Figure {
  const gases = points.map(({ gas }) => gas);
  const growth = Math.max(...gases) / Math.min(...gases);
  return {
    name: "square layers: gas of the dearest over the cheapest",
    value: `${growth.toFixed(2)}×`,
    target: `≤ ${MOST_GROWTH}×`,
    isMet: growth <= MOST_GROWTH,
  };
}

/** Each number of moves is named at the first size that needs it. */
const chartOf = (layered: readonly GrowthPoint[], derived: readonly GrowthPoint[]): string =>
  renderChart({
    title: "A whole dispute by the model's size",
    xLabel: "parameters",
    yLabel: "gas",
    series: [
      { name: "square layers", color: "#1f5fa8", points: layered.map(pointOf) },
      { name: "derived models", color: "#a8501f", points: derived.map(pointOf) },
    ],
    marks: [
      ...layered
        .filter(({ moves }, i) => moves !== layered[i - 1]?.moves)
        .map((point) => markOf(point, `${point.moves} transactions`, "below")),
      ...derived.map((point) => markOf(point, `${point.model}, ${point.moves} transactions`, "above")),
    ],
  });

const pointOf = ({ parameters, gas }: GrowthPoint) => [parameters, gas] as const;
const markOf = ({ parameters: x, gas: y }: GrowthPoint, name: string, side: Mark["side"]): Mark => ({
  ...{ name, x, y, side },
});

export const GROWTH_PART: Part = {
  name: "growth",
  title: "A dispute by the model's size",
  method:
    "Square int8 layers of up to 992 × 992 one after the other, one wrong element in the last one; and the derived models, sentiment-transformer at 48 ids and SmolLM2 at 256 + 32 (where ASSAY_WEIGHTS or `npm run test:executor` gives its weights), one wrong element in the last product of 16 bits. From the challenge to the conviction; whole transactions, and the time of both sides with re-execution and traces. A side is a process of its own that loads the model, of a folder proves it, and then checks an answer and commits to the trace as a node does; its memory is the most that was resident, Node.js included. The steps of a proof grow with the logarithm of the widest tensor and of the number of steps, and not with the weights.\n\n![Gas of a dispute by number of parameters](dispute-growth.svg)",
  run: measure,
};
