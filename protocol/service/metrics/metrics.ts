/** Counts and states of a running process, kept and written out by prom-client. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Values by the names of labels. Only names of our own go in: a series for each caller would have no bound. */
export type Labels<Label extends string = string> = Readonly<Record<Label, string>>;

export interface Sample<Label extends string> {
  readonly labels?: Labels<Label>;
  /** amounts of wei lose what a double cannot hold */
  readonly value: number | bigint;
}

/** What a gauge shows: one value, one for each label set, or nothing where it is not known. */
export type Reading<Label extends string = never> = number | bigint | readonly Sample<Label>[] | undefined;

/** Upper bounds for times from milliseconds to minutes, seconds. */
const SECONDS_BUCKETS: readonly number[] = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge" | "histogram";
}

export class Metrics {
  /** Its own: the library's global one would join the processes of one test. */
  readonly #registry = new Registry();
  readonly #families: Family[] = [];

  /** All families that are defined here, in the order of their definition. */
  get families(): readonly Family[] {
    return this.#families;
  }

  /** Media type of what `render` returns. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** A number that only grows while the process lives.
   *  @param name ends with _total
   *  @param known label sets that are shown as 0 before anything happened */
  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    known: readonly Labels<Label>[] = [],
  ): Counter<Label> {
    const counter = new Counter({ ...this.#family(name, help, "counter"), labelNames: [...labelNames] });
    for (const labels of known) counter.inc(labels, 0);
    return counter;
  }

  /** A state that is read when somebody asks. One that throws is left out of that answer. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    read: () => Reading<Label>,
    labelNames: readonly Label[] = [],
  ): void {
    this.#gauge(name, help, async () => read(), labelNames);
  }

  /** Several states that one look gives.
   *  @param help by name @param look gives the states by name; callers who come at once share one look; one that
   *  throws is left out of that answer, one that takes its time holds it up */
  gauges<Name extends string>(
    help: Readonly<Record<Name, string>>,
    read: () => Promise<Readonly<Record<Name, Reading>>>,
  ): void {
    let running: ReturnType<typeof read> | undefined;
    const shared = () => {
      running ??= read().finally(() => {
        running = undefined;
      });
      return running;
    };
    for (const name of Object.keys(help) as Name[])
      this.#gauge(name, help[name], async () => (await shared())[name]);
  }

  /** How values are spread.
   *  @param buckets upper bounds, rising */
  histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    buckets: readonly number[] = SECONDS_BUCKETS,
  ): Histogram<Label> {
    return new Histogram({
      ...this.#family(name, help, "histogram"),
      labelNames: [...labelNames],
      buckets: [...buckets],
    });
  }

  /** Memory, processor time, event loop and open files of this process, under the names that prom-client gives. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Everything that is known now, in Prometheus's text form. Never throws. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    read: () => Promise<Reading<Label>>,
    labelNames: readonly Label[] = [],
  ): void {
    const gauge = new Gauge<Label>({
      ...this.#family(name, help, "gauge"),
      labelNames: [...labelNames],
      collect: async () => {
        const samples = samplesOf(await read().catch(() => undefined));
        gauge.reset();
        // Without labels it is 0 after that, and what is not known is no 0.
        gauge.remove({});
        for (const { labels, value } of samples) gauge.set(labels ?? {}, Number(value));
      },
    });
  }

  /** @throws Error for a name that is no metric's, or was given before */
  #family(name: string, help: string, kind: Family["kind"]) {
    this.#families.push({ name, help, kind });
    return { name, help, registers: [this.#registry] };
  }
}

function samplesOf<Label extends string>(reading: Reading<Label>): readonly Sample<Label>[] {
  if (reading === undefined) return [];
  return typeof reading === "number" || typeof reading === "bigint" ? [{ value: reading }] : reading;
}
