/** A child process that runs sessions of onnxruntime. It may crash or hang: its parent takes that for "could not
 *  run", never for a result. */
import { writeSync } from "node:fs";
import type { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import {
  ANSWERS_FD,
  answerFrame,
  bytesOf,
  type Content,
  contentAt,
  type FromChild,
  portBytes,
  type RunsOfModel,
  type SessionSource,
  type ToChild,
} from "./messages.ts";

type Runtime = typeof import("onnxruntime-node");

interface Session {
  readonly session: InferenceSession;
  readonly Tensor: Runtime["Tensor"];
  readonly source: SessionSource;
}

/** Answers wait at most this long for others to travel with, and for so many: the parent then sends more work while
 *  this process has some left. */
const MAX_DELAY_MS = 2;
const MAX_ANSWERS = 32;

const TYPES = { u8: "uint8", s8: "uint8", bool: "uint8", s32: "int32", f32: "float32" } as const;

/** What there is to tell the parent. */
class Answers {
  #done: number[] = [];
  #data: Uint8Array[] = [];
  #failed: FromChild["failed"][number][] = [];
  #sessionMs = 0;
  #since = performance.now();

  done(id: number, output?: Uint8Array, sessionMs = 0): void {
    this.#done.push(id);
    this.#sessionMs += sessionMs;
    if (output !== undefined) this.#data.push(output);
  }

  failed(id: number, error: unknown): void {
    this.#failed.push({ id, reason: error instanceof Error ? error.message : String(error) });
  }

  send(): void {
    const [done, failed] = [this.#done, this.#failed];
    if (done.length > 0) writeAll(answerFrame(done, this.#sessionMs, this.#data));
    if (failed.length > 0) process.send?.({ failed } satisfies FromChild);
    [this.#done, this.#data, this.#failed] = [[], [], []];
    this.#sessionMs = 0;
    this.#since = performance.now();
  }

  sendIfDue(): void {
    const count = this.#done.length + this.#failed.length;
    if (count >= MAX_ANSWERS || performance.now() - this.#since >= MAX_DELAY_MS) this.send();
  }
}

/** The stream blocks: a parent that is behind holds the child up. */
function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(ANSWERS_FD, bytes, at);
}

/** Serves messages until the parent goes away. */
function serve(): void {
  const sessions = new Map<string, Session>();
  let runtime: Promise<Runtime> | undefined;
  const load = (): Promise<Runtime> => {
    runtime ??= import("onnxruntime-node").then(
      (module) => (module as { default?: Runtime }).default ?? module,
    );
    return runtime;
  };
  // One message after the other: runs at once would only wait for the same thread.
  let last: Promise<void> = Promise.resolve();
  process.on("message", (message: ToChild) => {
    last = last.then(() => serveMessage(message));
  });
  process.on("disconnect", () => process.exit(0));

  async function serveMessage(message: ToChild): Promise<void> {
    const answers = new Answers();
    if (message.kind === "run") for (const runs of message.runs) await runAll(runs, answers);
    else {
      try {
        await open(message);
        answers.done(message.id);
      } catch (error) {
        answers.failed(message.id, error);
      }
    }
    answers.send();
  }

  async function open({ source, threads }: Extract<ToChild, { kind: "open" }>): Promise<void> {
    const { InferenceSession, Tensor } = await load();
    const session = await InferenceSession.create(source.onnx, {
      // Optimizers fuse and reorder: the emitted graph is exact as it stands.
      graphOptimizationLevel: "disabled",
      executionProviders: ["cpu"],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
    });
    sessions.set(source.model, { session, source, Tensor });
  }

  async function runAll({ model, ids, data }: RunsOfModel, answers: Answers): Promise<void> {
    const known = sessions.get(model);
    let at = 0;
    for (const id of ids) {
      try {
        if (known === undefined) throw new Error(`model ${model} is not open in this process`);
        const { output, sessionMs } = await run(known, data, at);
        answers.done(id, output, sessionMs);
      } catch (error) {
        answers.failed(id, error);
      }
      for (const port of known?.source.inputs ?? []) at += portBytes(port);
      answers.sendIfDue();
    }
  }

  async function run(
    { session, source, Tensor }: Session,
    data: Uint8Array,
    first: number,
  ): Promise<{ readonly output: Uint8Array; readonly sessionMs: number }> {
    let at = first;
    const contents = source.inputs.map((port) => {
      at += portBytes(port);
      return contentAt(port, data, at - portBytes(port));
    });
    const start = performance.now();
    const feeds: Record<string, OrtTensor> = {};
    for (const [i, { name, type, dims }] of source.inputs.entries()) {
      feeds[name] = new Tensor(TYPES[type], contents[i] as Uint8Array, dims);
    }
    const results = await session.run(feeds);
    const output = bytesOf((results[source.output.name] as OrtTensor).data as Content);
    const sessionMs = performance.now() - start;
    const expected = portBytes(source.output);
    if (output.length !== expected)
      throw new Error(`output ${source.output.name} has ${output.length} bytes, must have ${expected}`);
    return { output, sessionMs };
  }
}

serve();
