/** A child process that runs sessions of onnxruntime. It may crash or hang: its parent takes that for "could not
 *  run", never for a result. */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import type { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import {
  ANSWERS_FD,
  bytesOf,
  type Content,
  type Frame,
  type FromChild,
  frameReader,
  type Port,
  portBytes,
  RUNS_FD,
  type ToChild,
  toFrame,
  viewAt,
} from "./messages.ts";

type Runtime = typeof import("onnxruntime-node");

interface Session {
  readonly session: InferenceSession;
  readonly Tensor: Runtime["Tensor"];
  readonly inputs: readonly SizedPort[];
  readonly output: SizedPort;
}

/** A port with the bytes of its content: they are the same in every run. */
type SizedPort = Port & { readonly size: number };
const sized = (port: Port): SizedPort => ({ ...port, size: portBytes(port) });

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
    if (done.length > 0) writeAll(toFrame(done, this.#sessionMs, this.#data));
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

/** Serves its parent until that goes away. */
function serve(): void {
  const sessions = new Map<number, Session>();
  let runtime: Promise<Runtime> | undefined;
  const load = (): Promise<Runtime> => {
    runtime ??= import("onnxruntime-node").then(
      (module) => (module as { default?: Runtime }).default ?? module,
    );
    return runtime;
  };
  // One after the other: runs at once would only wait for the same thread.
  let last: Promise<void> = Promise.resolve();
  process.on("message", (message: ToChild) => {
    last = last.then(() => open(message));
  });
  const read = frameReader();
  new Socket({ fd: RUNS_FD, readable: true, writable: false }).on("data", (chunk: Buffer) => {
    for (const frame of read(chunk)) last = last.then(() => runAll(frame));
  });
  process.on("disconnect", () => process.exit(0));

  async function open(message: ToChild): Promise<void> {
    const answers = new Answers();
    try {
      sessions.set(message.session, await newSession(message));
      answers.done(message.id);
    } catch (error) {
      answers.failed(message.id, error);
    }
    answers.send();
  }

  async function newSession({ source, threads }: ToChild): Promise<Session> {
    const { InferenceSession, Tensor } = await load();
    const session = await InferenceSession.create(source.onnx, {
      // Optimizers fuse and reorder: the emitted graph is exact as it stands.
      graphOptimizationLevel: "disabled",
      executionProviders: ["cpu"],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
    });
    return { session, Tensor, inputs: source.inputs.map(sized), output: sized(source.output) };
  }

  async function runAll({ ids, value, data }: Frame): Promise<void> {
    const answers = new Answers();
    const known = sessions.get(value);
    let at = 0;
    for (const id of ids) {
      try {
        if (known === undefined) throw new Error(`session ${value} is not open in this process`);
        const { output, sessionMs } = await run(known, data, at);
        answers.done(id, output, sessionMs);
      } catch (error) {
        answers.failed(id, error);
      }
      for (const { size } of known?.inputs ?? []) at += size;
      answers.sendIfDue();
    }
    answers.send();
  }

  async function run(
    { session, Tensor, inputs, output }: Session,
    data: Uint8Array,
    first: number,
  ): Promise<{ readonly output: Uint8Array; readonly sessionMs: number }> {
    let at = first;
    const contents = inputs.map((port) => {
      at += port.size;
      // The block is this frame's alone, so a view of it stays as it is until the run ends.
      return viewAt(port, data, at - port.size);
    });
    const start = performance.now();
    const feeds: Record<string, OrtTensor> = {};
    for (const [i, { name, type, dims }] of inputs.entries()) {
      feeds[name] = new Tensor(TYPES[type], contents[i] as Uint8Array, dims);
    }
    const results = await session.run(feeds);
    const bytes = bytesOf((results[output.name] as OrtTensor).data as Content);
    const sessionMs = performance.now() - start;
    if (bytes.length !== output.size)
      throw new Error(`output ${output.name} has ${bytes.length} bytes, must have ${output.size}`);
    return { output: bytes, sessionMs };
  }
}

serve();
