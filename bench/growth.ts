/** How a dispute grows with the model: gas and moves from 10^3 to 1.35 · 10^8 parameters, as many as SmolLM2-135M has. */

import { renderChart } from "./charts/chart.ts";
import { measureDispute } from "./dispute.ts";
import { firstDispute, onChain } from "./gas.ts";
import { layeredModel } from "./limit-model.ts";
import { type Figure, grouped, type Measured, type Part } from "./report.ts";

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
  readonly parameters: number;
  readonly moves: number;
  readonly gas: number;
  readonly seconds: number;
}

/** What grows by this much more than the model is not a dispute that ends by bisection. */
const MOST_GROWTH = 2;

async function measure(): Promise<Measured> {
  const points = await onChain(async (bench) => {
    await firstDispute(bench);
    const measured: GrowthPoint[] = [];
    for (const [layers, width] of SHAPES) {
      const { moves, seconds } = await measureDispute(bench, layeredModel(layers, width), { step: layers });
      const gas = Number(moves.reduce((sum, move) => sum + move.gas, 0n));
      measured.push({ parameters: layers * width * width, moves: moves.length, gas, seconds });
    }
    return measured;
  });
  return {
    figures: figuresOf(points),
    rows: points,
    files: { "docs/charts/dispute-growth.json": chartOf(points) },
  };
}

function figuresOf(points: readonly GrowthPoint[]): Figure[] {
  const gases = points.map(({ gas }) => gas);
  const growth = Math.max(...gases) / Math.min(...gases);
  return [
    ...points.map(({ parameters, moves, gas, seconds }) => ({
      name: `${grouped(parameters)} parameters`,
      value: `${grouped(gas)} gas, ${moves} transactions, ${seconds.toFixed(2)} s`,
    })),
    {
      name: "gas of the dearest over the cheapest",
      value: `${growth.toFixed(2)}×`,
      target: `≤ ${MOST_GROWTH}×`,
      isMet: growth <= MOST_GROWTH,
    },
  ];
}

/** Each number of moves is named at the first size that needs it. */
const chartOf = (points: readonly GrowthPoint[]): string =>
  renderChart({
    title: "A whole dispute by the model's size",
    xLabel: "parameters",
    yLabel: "gas",
    series: [
      { name: "dispute", color: "#1f5fa8", points: points.map(({ parameters, gas }) => [parameters, gas]) },
    ],
    marks: points
      .filter(({ moves }, i) => moves !== points[i - 1]?.moves)
      .map(({ parameters, gas, moves }) => ({
        name: `${moves} transactions`,
        x: parameters,
        y: gas,
        side: "below",
      })),
  });

export const GROWTH_PART: Part = {
  name: "growth",
  title: "A dispute by the model's size",
  method:
    "Square int8 layers of up to 992 × 992 one after the other, one wrong element in the last one, from the challenge to the conviction; whole transactions, and the time of both sides with re-execution and traces. The steps of a proof grow with the logarithm of the widest tensor and of the number of steps, and not with the weights.\n\n![Gas of a dispute by number of parameters](dispute-growth.svg)",
  run: measure,
};
