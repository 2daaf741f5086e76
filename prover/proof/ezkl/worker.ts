/** Runs stages of ezkl, each in a Python process of its own (ezkl_worker.py). */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { BaseError } from "../../../base/errors.ts";

/** Files are absolute paths. What each stage reads and writes: ezkl_worker.py. */
export interface StageRequests {
  readonly version: object;
  readonly settings: {
    readonly onnx: string;
    readonly settings: string;
    readonly data: string;
    readonly target: CalibrationTarget;
    /** candidates for the fraction bits of inputs and weights */
    readonly scales: readonly number[];
    readonly maxLogrows: number;
  };
  readonly operations: { readonly onnx: string; readonly settings: string };
  readonly circuit: { readonly onnx: string; readonly circuit: string; readonly settings: string };
  readonly srs: { readonly srs: string; readonly logrows: number };
  readonly setup: {
    readonly circuit: string;
    readonly vk: string;
    readonly pk: string;
    readonly srs: string;
  };
  readonly verifier: {
    readonly vk: string;
    readonly settings: string;
    readonly solidity: string;
    readonly srs: string;
  };
  readonly witness: { readonly data: string; readonly circuit: string; readonly witness: string };
  readonly witnesses: {
    readonly data: readonly string[];
    readonly circuit: string;
    readonly witness: string;
  };
  readonly prove: {
    readonly witness: string;
    readonly circuit: string;
    readonly pk: string;
    readonly proof: string;
    readonly srs: string;
  };
  readonly verify: {
    readonly proof: string;
    readonly settings: string;
    readonly vk: string;
    readonly srs: string;
  };
}
export type Stage = keyof StageRequests;

/** What ezkl's calibration minimizes: rows of the circuit, or the difference from the float model. */
export const CALIBRATION_TARGETS = ["resources", "accuracy"] as const;
export type CalibrationTarget = (typeof CALIBRATION_TARGETS)[number];

const elements = z.array(z.string().regex(/^\d+$/)).transform((texts) => texts.map(BigInt));
const ANSWERS = {
  version: z.object({ version: z.string() }),
  settings: z.object({}),
  operations: z.object({ table: z.string() }),
  circuit: z.object({}),
  srs: z.object({}),
  setup: z.object({}),
  verifier: z.object({}),
  /** field elements */
  witness: z.object({ inputs: z.array(elements), outputs: z.array(elements) }),
  witnesses: z.object({ outputs: z.array(z.array(elements)) }),
  prove: z.object({ proof: z.string().regex(/^0x([0-9a-f]{2})+$/), instances: elements }),
  verify: z.object({ valid: z.boolean() }),
} as const satisfies Record<Stage, z.ZodType>;

const measured = z.object({ ok: z.literal(true), seconds: z.number(), memoryBytes: z.number() });
const refused = z.object({ ok: z.literal(false), error: z.string() });

/** An answer and what it cost: seconds inside the stage, and the process's greatest resident memory. */
export type StageAnswer<S extends Stage> = z.infer<(typeof ANSWERS)[S]> & {
  readonly seconds: number;
  readonly memoryBytes: number;
};

export interface WorkerOptions {
  /** interpreter of the virtual environment that `assay proof ezkl install` makes */
  readonly python: string;
  /** folder of ezkl_worker.py; default: this one */
  readonly scripts?: string;
  /** of one stage; default 30 minutes */
  readonly timeoutMs?: number;
  /** kills the stage that runs */
  readonly signal?: AbortSignal;
}

const MAX_ANSWER_BYTES = 64 << 20;
const SHOWN_LOG = 2_000;

/** Runs a stage.
 *  @throws BaseError EZKL_MISSING when it is not installed; EZKL_FAILED with ezkl's reason, retryable where the process
 *  died without one; EZKL_TIMEOUT (retryable);
 *  EZKL_CANCELLED */
export async function runStage<S extends Stage>(
  options: WorkerOptions,
  stage: S,
  request: StageRequests[S],
): Promise<StageAnswer<S>> {
  if (!existsSync(options.python)) throw ezklMissing(options.python);
  const { text, log, end } = await collect(options, JSON.stringify({ stage, ...request }));
  if (end === "timeout" || end === "cancelled") throw stopped(stage, end, options);
  const answer = parse(text);
  const failure = refused.safeParse(answer);
  const cost = measured.safeParse(answer);
  const content = ANSWERS[stage].safeParse(answer);
  if (cost.success && content.success) return { ...content.data, ...cost.data } as unknown as StageAnswer<S>;
  const reason = failure.success
    ? failure.data.error
    : `it ended with ${end} and ${text === "" ? "no" : "an unreadable"} answer`;
  if (/ModuleNotFoundError: No module named 'ezkl'/.test(reason)) throw ezklMissing(options.python);
  throw new BaseError({
    code: "EZKL_FAILED",
    shortMessage: `ezkl's stage ${stage} failed: ${reason.slice(0, SHOWN_LOG)}`,
    nextStep: "Check the model and its inputs; the cause holds what ezkl printed.",
    // A process that said nothing was killed or crashed; what ezkl itself refuses it refuses again.
    retryable: !failure.success,
    details: { stage },
    cause: log.slice(-SHOWN_LOG),
  });
}

interface Ended {
  readonly text: string;
  readonly log: string;
  /** exit code, signal, or why this program ended it */
  readonly end: string;
}

function collect(options: WorkerOptions, input: string): Promise<Ended> {
  const { python, scripts = import.meta.dirname, timeoutMs = 1_800_000, signal } = options;
  return new Promise((resolve, reject) => {
    let end: string | undefined;
    let [text, log] = ["", ""];
    // A proxy that is not there: ezkl would look for a compiler on the network.
    const nowhere = "http://127.0.0.1:9";
    const env = {
      ...process.env,
      HTTPS_PROXY: nowhere,
      HTTP_PROXY: nowhere,
      ALL_PROXY: nowhere,
      NO_PROXY: "",
      PYTHONDONTWRITEBYTECODE: "1",
    };
    const child = spawn(python, [join(scripts, "ezkl_worker.py")], { env });
    const kill = (why: string): void => {
      end ??= why;
      child.kill("SIGKILL");
    };
    const cancel = (): void => kill("cancelled");
    const timer = setTimeout(() => kill("timeout"), timeoutMs);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted === true) cancel();
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.length > MAX_ANSWER_BYTES) kill("an answer that is too long");
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      log = (log + part).slice(-2 * SHOWN_LOG);
    });
    // A process that dies early closes the pipe; how it ended says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
    child.on("error", (cause) => {
      done();
      reject(ezklMissing(python, cause));
    });
    child.on("close", (code, name) => {
      done();
      resolve({ text, log, end: end ?? `${name ?? `exit code ${code}`}` });
    });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const ezklMissing = (python: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "EZKL_MISSING",
    shortMessage: `ezkl is not installed: there is no usable ${python}.`,
    nextStep: "Install it with `assay proof ezkl install`.",
    cause,
  });

function stopped(stage: Stage, why: "timeout" | "cancelled", options: WorkerOptions): BaseError {
  if (why === "cancelled") {
    return new BaseError({ code: "EZKL_CANCELLED", shortMessage: `ezkl's stage ${stage} was cancelled.` });
  }
  return new BaseError({
    code: "EZKL_TIMEOUT",
    shortMessage: `ezkl's stage ${stage} took longer than ${options.timeoutMs ?? 1_800_000} ms and was ended.`,
    nextStep: "Give it more time with --timeout-ms, or make the model smaller.",
    retryable: true,
    details: { stage },
  });
}
