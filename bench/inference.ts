/** Speed of inference: the pool of child processes over plain onnxruntime, and a challenger's checks. */
import { equalBytes, fromHex, toHex } from "../base/bytes.ts";
import { createRng, type Rng } from "../conformance/generate/rng.ts";
import { encodeInput } from "../inference/codecs/input.ts";
import { encodeOutput } from "../inference/codecs/output.ts";
import { execute } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import { lastStep } from "../inference/program/shape.ts";
import { OnnxruntimeEngine } from "../inference/runtime/engine.ts";
import { RuntimePool } from "../inference/runtime/pool.ts";
import { selfTestCalldata } from "../inference/self-test.ts";
import { canonicalExecutor } from "../test/support/differential.ts";
import { compareAll } from "../test/support/differential-suite.ts";
import { LAYER, layer, shippedModels } from "./models.ts";
import { ONNXRUNTIME } from "./peers.ts";
import { type Figure, grouped, type Part } from "./report.ts";

/** Targets of section 10 of the design. */
const TARGETS = { plain: 1.1, checked: 3, claimsPerSecond: 1000, elements: 1_000_000 };
const ROUND_MS = 80;
const ROUNDS = 20;
/** Requests that are under way at once. */
const IN_FLIGHT = 64;

interface Overhead {
  /** Means of one round, ms: of `session.run` alone, measured in the child, and of a whole run. */
  readonly session: number;
  readonly run: number;
}

/** Rounds of runs, `width` at once; the fastest round, because other processes only ever add to it.
 *  @param one runs number i and gives the time of its `session.run` */
async function best(width: number, one: (i: number) => Promise<number>): Promise<Overhead> {
  let least: Overhead = { session: 1, run: Number.POSITIVE_INFINITY };
  let next = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    const sessions: number[] = [];
    const worker = async (): Promise<void> => {
      while (performance.now() - start < ROUND_MS) sessions.push(await one(next++));
    };
    await Promise.all(Array.from({ length: width }, worker));
    const run = (performance.now() - start) / sessions.length;
    const session = sessions.reduce((sum, ms) => sum + ms, 0) / sessions.length;
    // The first round warms up.
    if (round > 0 && run < least.run) least = { session, run };
  }
  return least;
}

const microseconds = (ms: number): string => `${(1000 * ms).toFixed(0)} µs`;

function ratio(name: string, { run, session }: Overhead, most?: number): Figure {
  const value = `${(run / session).toFixed(2)}× (${microseconds(run)} over ${microseconds(session)})`;
  return most === undefined
    ? { name, value }
    : { name, value, target: `≤ ${most}×`, isMet: run / session <= most };
}

function succeeded<T extends object>(result: T | { readonly failure: string }): T {
  if ("failure" in result) throw new Error(result.failure);
  return result;
}

async function overheadOf(
  engine: OnnxruntimeEngine,
  name: string,
  prepared: PreparedModel,
  isShipped: boolean,
): Promise<Figure[]> {
  const inputs = Array.from({ length: 64 }, (_, seed) =>
    selfTestCalldata(prepared.program, prepared.selector, 2 * seed),
  );
  const tensors = inputs.map((calldata) => prepared.inputTensors(prepared.decode(calldata)));
  const of = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;
  const byPool = async (i: number): Promise<number> =>
    succeeded(await engine.runTensors(name, of(tensors, i))).sessionMs;
  const checked = async (i: number): Promise<number> => {
    // The two engines work at the same time.
    const fast = engine.runTensors(name, prepared.inputTensors(prepared.decode(of(inputs, i))));
    const canonical = execute(prepared, of(inputs, i));
    const { output, sessionMs } = succeeded(await fast);
    const { type, dims } = lastStep(prepared.program);
    const found = encodeOutput(prepared.program, { type, dims, data: output });
    if (!equalBytes(found, canonical)) throw new Error("the two engines differ");
    return sessionMs;
  };
  return [
    ratio(`${name}, ${IN_FLIGHT} under way`, await best(IN_FLIGHT, byPool), TARGETS.plain),
    ratio(`${name}, one at a time`, await best(1, byPool)),
    ratio(
      `${name}, calldata to output, cross-checked`,
      await best(IN_FLIGHT, checked),
      isShipped ? TARGETS.checked : undefined,
    ),
  ];
}

async function withEngine<T>(
  models: ReadonlyMap<string, PreparedModel>,
  work: (engine: OnnxruntimeEngine) => Promise<T>,
): Promise<T> {
  const pool = new RuntimePool();
  try {
    const onFallBack = (model: string, reason: string): void => {
      throw new Error(`${model} is not run by onnxruntime: ${reason}`);
    };
    return await work(await OnnxruntimeEngine.open(pool, models, { onFallBack }));
  } finally {
    pool.close();
  }
}

async function overhead(): Promise<Figure[]> {
  const [name, shipped] = [`layer ${LAYER}×${LAYER}, batch 1`, shippedModels()];
  return withEngine(new Map([[name, layer()], ...shipped]), async (engine) => {
    const figures: Figure[] = await overheadOf(engine, name, layer(), false);
    for (const [model, prepared] of shipped)
      figures.push(...(await overheadOf(engine, model, prepared, true)));
    return figures;
  });
}

/** Headlines of made-up words whose frequencies fall as a language's do. */
export function headline(rng: Rng): string {
  const word = (): string => {
    const rank = Math.floor(20_000 ** (rng.int(0, 2 ** 20) / 2 ** 20));
    const letters = createRng(rank);
    return Array.from({ length: letters.int(2, 10) }, () =>
      String.fromCharCode(97 + letters.int(0, 25)),
    ).join("");
  };
  return Array.from({ length: rng.int(8, 24) }, word).join(" ");
}

interface Claim {
  readonly input: `0x${string}`;
  readonly output: `0x${string}`;
}

/** Every claim is another text, and one in a hundred is wrong. */
function claims(prepared: PreparedModel, count: number, seed: number): Claim[] {
  const rng = createRng(seed);
  return Array.from({ length: count }, (_, i) => {
    const text = new TextEncoder().encode(`${i} ${headline(rng)}`);
    const calldata = encodeInput(prepared.program, prepared.selector, { codec: "text", text });
    const output = execute(prepared, calldata);
    if (i % 100 === 0) output[31] = (output[31] as number) ^ 1;
    return { input: toHex(calldata), output: toHex(output) };
  });
}

const CLAIMS = 3000;

async function rate(
  prepared: PreparedModel,
  outputOf: (input: Uint8Array) => Uint8Array | Promise<Uint8Array>,
  width: number,
): Promise<number> {
  let most = 0;
  for (let round = 0; round < 4; round++) {
    const list = claims(prepared, CLAIMS, round);
    let [next, wrong] = [0, 0];
    const start = performance.now();
    const worker = async (): Promise<void> => {
      while (next < list.length) {
        const { input, output } = list[next++] as Claim;
        const found = outputOf(fromHex(input));
        const bytes = found instanceof Uint8Array ? found : await found;
        if (!equalBytes(bytes, fromHex(output))) wrong++;
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    if (wrong !== CLAIMS / 100) throw new Error(`${wrong} claims were found wrong, ${CLAIMS / 100} are`);
    most = Math.max(most, (1000 * CLAIMS) / (performance.now() - start));
  }
  return most;
}

async function challenger(): Promise<Figure[]> {
  const prepared = shippedModels().get("sentiment") as PreparedModel;
  const figure = (name: string, perSecond: number): Figure => ({
    name,
    value: `${grouped(Math.round(perSecond))} claims a second`,
    target: `≥ ${grouped(TARGETS.claimsPerSecond)}`,
    isMet: perSecond >= TARGETS.claimsPerSecond,
  });
  // claims() runs the same executor before, on the same texts: a fresh one has no words in its cache.
  const canonical = prepare(prepared.model, prepared.selector);
  const alone = await rate(prepared, (input) => execute(canonical, input), 1);
  const fast = await withEngine(
    new Map([["sentiment", prepare(prepared.model, prepared.selector)]]),
    (engine) =>
      rate(prepared, async (input) => succeeded(await engine.run("sentiment", input)).output, IN_FLIGHT),
  );
  return [
    figure("canonical executor alone, one thread", alone),
    figure("onnxruntime in one child process, parent and child on a core each", fast),
  ];
}

async function differences(): Promise<Figure[]> {
  const { compared, different } = (await compareAll(canonicalExecutor)).total;
  return [
    {
      name: "elements compared",
      value: grouped(compared),
      target: `≥ ${grouped(TARGETS.elements)}`,
      isMet: compared >= TARGETS.elements,
    },
    { name: "different", value: grouped(different), target: "0", isMet: different === 0 },
  ];
}

export const INFERENCE_PARTS: readonly Part[] = [
  {
    name: "differences",
    title: "Canonical executor against onnxruntime on the emitted file",
    method: `Random programs, and programs directed at every opcode, variant and type, beside ${ONNXRUNTIME} in this process; MOVE and constants are not counted. The table by opcode is printed by \`npx vitest run test/inference/differential\`.`,
    run: differences,
  },
  {
    name: "overhead",
    title: "Inference in the pool over plain onnxruntime",
    method: `Time of a run by the pool over that of \`session.run\` of ${ONNXRUNTIME} alone, with its tensors made and read, for the same runs and measured in the child process; one child, one thread; best of ${ROUNDS} rounds. Runs under way at once share the messages between the processes; one at a time, each waits for two.`,
    run: overhead,
  },
  {
    name: "challenger",
    title: "Challenger: claims of models/sentiment checked",
    method: `${grouped(CLAIMS)} distinct texts of 8 to 24 words, from the bytes of the event to the verdict, no result cache; best of 4 rounds.`,
    run: challenger,
  },
];
