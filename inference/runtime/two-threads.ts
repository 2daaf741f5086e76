/** Runs of a large model in two threads: the one that runs the program, and a second one that takes parts of its large
 *  steps. Every part is computed by the same kernels, in tensors and weights that both see. */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { BaseError } from "../../base/errors.ts";
import { partLength, type Span } from "../executor/parts.ts";
import { prepare } from "../executor/prepare.ts";
import type { OpcodeForms, PreparedModel, PrepareOptions, SecondThread } from "../executor/prepared-model.ts";
import { runWork } from "../executor/quick.ts";
import { dotForm } from "../opcodes/dot.ts";
import { OPCODE_FORMS } from "../opcodes/generated/index.ts";
import { fastestProducts, type ProductsOf } from "../opcodes/products.ts";
import { sharedSimdProducts, simdProducts } from "../opcodes/simd-products.ts";
import type { Model, Program, Step, Tensor, TensorData, TensorType } from "../program/form.ts";
import { newData } from "../program/tensor.ts";
import { type SharedMemory, sharedMemory } from "../wasm.ts";
import { SharedParts } from "./shared-parts.ts";

/** A run's work from which a second thread pays, as `stepWork` counts it: some ten milliseconds. */
const LEAST_WORK = 2 ** 24;

/** A part takes milliseconds: a thread that is at one for this long, ms, was lost. */
const LOST_MS = 60_000;

/** What the second thread is started with. */
export interface SecondThreadWork {
  readonly model: Model;
  readonly selector: Uint8Array;
  /** that DOT kernels have their weights in, in the order of steps; undefined: there was none for it */
  readonly memories: readonly (SharedMemory | undefined)[];
  /** as of SharedParts */
  readonly counts: Int32Array;
  /** brings tensors of runs */
  readonly port: MessagePort;
}

const formsWith = (shared: ProductsOf | undefined): OpcodeForms => ({
  ...OPCODE_FORMS,
  dot: dotForm(fastestProducts(shared), fastestProducts(simdProducts)),
});

/** The weights in memory that all threads see. */
export const withSharedWeights = ({ program, weights }: Model): Model => ({
  program,
  weights: weights.map((bytes) => {
    const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
    copy.set(bytes);
    return copy;
  }),
});

/** Ready for runs, in two threads where that pays. @throws as `prepare` */
export function prepareForRuns(
  model: Model,
  selector: Uint8Array,
  options: Pick<PrepareOptions, "bounds"> = {},
): PreparedModel {
  if (paysForTwo(model.program)) return new TwoThreads(withSharedWeights(model), selector, options).prepared;
  const prepared = prepare(model, selector, options);
  prepared.makeReady();
  return prepared;
}

/** Whether a second thread makes runs of a program shorter by more than it costs. */
export const paysForTwo = (program: Program): boolean =>
  availableParallelism() > 1 && runWork(program) >= LEAST_WORK;

/** A model whose runs a second thread takes part in. */
export class TwoThreads implements SecondThread {
  readonly prepared: PreparedModel;
  /** false: the first thread runs alone, as where others need the cores */
  isWanted = true;
  readonly #parts = new SharedParts();
  readonly #memories: (SharedMemory | undefined)[] = [];
  /** of the runs that the second thread has been told of */
  readonly #known: (readonly Tensor[])[] = [];
  readonly #port: MessagePort;
  readonly #least: number | undefined;

  /** Until the thread takes part, and where it fails, the first one computes everything.
   *  @param model weights that are no SharedArrayBuffer are copied into the second thread
   *  @param least work of a part, see `partLength`
   *  @throws as `prepare` */
  constructor(
    model: Model,
    selector: Uint8Array,
    options: Pick<PrepareOptions, "bounds"> = {},
    least?: number,
  ) {
    this.#least = least;
    const forms = formsWith(this.#sharedProducts());
    this.prepared = prepare(model, selector, { ...options, forms, second: this });
    // From here on no memory is to come.
    this.prepared.makeReady();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: SecondThreadWork = {
      ...{ model, selector, memories: this.#memories, counts: this.#parts.counts, port: port2 },
    };
    port1.unref();
    this.#start(workerData, port2);
  }

  /** Starts the second thread. Where the system refuses it one, the first one runs alone. */
  #start(workerData: SecondThreadWork, port: MessagePort): void {
    const stopped = () => this.#parts.setFailed();
    try {
      const thread = new Worker(new URL("second-thread.mjs", import.meta.url), {
        ...{ execArgv: [], workerData, transferList: [port] },
      });
      thread.on("error", stopped).on("exit", stopped);
      // It keeps no program alive.
      thread.unref();
    } catch {
      stopped();
    }
  }

  get isReady(): boolean {
    return this.#parts.isReady;
  }

  /** Parts that the second thread has computed. */
  get taken(): number {
    return this.#parts.taken;
  }

  newData(type: TensorType, count: number): TensorData {
    return newData(type, count, true);
  }

  compute(
    step: number,
    tensors: readonly Tensor[],
    span: Span,
    own: (from: number, to: number) => void,
  ): void {
    const length = this.isWanted && this.isReady ? this.#lengthOf(step, span) : undefined;
    if (length === undefined) {
      own(span.from, span.to);
      return;
    }
    const parts = this.#parts.offer({ step, tensors: this.#placeOf(tensors), ...span }, length);
    let mine = 0;
    try {
      for (let part = this.#parts.take(); part !== undefined; part = this.#parts.take()) {
        own(part.from, part.to);
        mine += 1;
      }
    } catch (error) {
      // Parts may be left, which no later offer may meet.
      this.#parts.setFailed();
      throw error;
    }
    if (!this.#parts.awaitDone(parts - mine, LOST_MS)) {
      this.#parts.setFailed();
      throw new BaseError({
        code: "CANONICAL_FAILED",
        shortMessage: `The second thread of a run was lost: it has been at step ${step} for ${LOST_MS / 1_000} s.`,
        nextStep: "Try again.",
        retryable: true,
        details: { step },
      });
    }
    if (this.#parts.hasFailed) own(span.from, span.to);
  }

  #lengthOf(step: number, span: Span): number | undefined {
    const { program } = this.prepared;
    return partLength(program, program.steps[step] as Step, span, this.#least);
  }

  /** The second thread is told of a memory once the weights are in it. */
  #sharedProducts(): ProductsOf | undefined {
    let memory: SharedMemory | undefined;
    const memoryOf = (pages: number): SharedMemory => {
      memory = sharedMemory(pages);
      return memory;
    };
    const productsOf = sharedSimdProducts(memoryOf, 2, 0);
    if (productsOf === undefined) return undefined;
    return (weights) => {
      const place = this.#memories.push(undefined) - 1;
      const products = productsOf(weights);
      this.#memories[place] = memory;
      return products;
    };
  }

  #placeOf(tensors: readonly Tensor[]): number {
    const known = this.#known.indexOf(tensors);
    if (known >= 0) return known;
    this.#port.postMessage(tensors);
    return this.#known.push(tensors) - 1;
  }
}

/** What the second thread does for as long as it lives. */
export function takeParts({ model, selector, memories, counts, port }: SecondThreadWork): never {
  let next = 0;
  const memoryOf = (): SharedMemory => {
    const memory = memories[next++];
    if (memory === undefined) throw new RangeError("the first thread had no memory for it either");
    return memory;
  };
  const prepared = prepare(model, selector, { forms: formsWith(sharedSimdProducts(memoryOf, 2, 1)) });
  prepared.makeKernels();
  const known: (readonly Tensor[])[] = [];
  const tensorsAt = (place: number): readonly Tensor[] => {
    for (;;) {
      const found = known[place];
      if (found !== undefined) return found;
      const received = receiveMessageOnPort(port);
      if (received !== undefined) known.push(received.message as readonly Tensor[]);
    }
  };
  const parts = new SharedParts(counts);
  parts.setReady();
  for (;;) {
    const part = parts.take();
    if (part === undefined) {
      parts.awaitOffer();
      continue;
    }
    try {
      prepared.computePart(part.step, tensorsAt(part.tensors), part);
    } catch {
      // The first thread computes it again, and says what is wrong.
      parts.setFailed();
    }
    parts.finish();
  }
}
