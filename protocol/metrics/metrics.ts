/** Counts and states of a running process in the text form that Prometheus reads (exposition format 0.0.4). */

/** Values by the names of labels. Only names of our own go in: a series for each caller would have no bound. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  /** amounts of wei lose what a double cannot hold */
  readonly value: number | bigint;
}

/** What a gauge shows: one value, one for each label set, or nothing where it is not known. */
export type Reading = number | bigint | readonly Sample[] | undefined;

export interface Counter {
  /** @param by default 1 */
  add(labels?: Labels, by?: number): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/** Upper bounds for times from milliseconds to minutes, seconds. */
export const SECONDS_BUCKETS: readonly number[] = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];

type Kind = "counter" | "gauge" | "histogram";

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly kind: Kind;
}

/** A line of a family: what follows its name, the labels and the value. */
type Line = readonly [suffix: string, labels: Labels, value: number | bigint];

interface Source {
  readonly families: readonly Family[];
  /** Lines by family's name; a family that is not known now is left out. */
  read(): Promise<Readonly<Record<string, readonly Line[]>>>;
}

export class Metrics {
  readonly #sources: Source[] = [];
  readonly #families = new Map<string, Family>();

  /** All families, in the order of their definition. */
  get families(): readonly Family[] {
    return [...this.#families.values()];
  }

  /** A number that only grows while the process lives.
   *  @param name ends with _total @param known label sets that are shown as 0 before anything happened; absent: one
   *  without labels */
  counter(name: string, help: string, known: readonly Labels[] = [{}]): Counter {
    const values = new Map(known.map((labels) => [labelText(labels), { labels, value: 0 }]));
    this.#add(name, help, "counter", () =>
      [...values.values()].map(({ labels, value }) => ["", labels, value]),
    );
    return {
      add: (labels = {}, by = 1) => {
        const key = labelText(labels);
        const held = values.get(key) ?? { labels, value: 0 };
        values.set(key, { labels, value: held.value + by });
      },
    };
  }

  /** A state that is read when somebody asks. One that throws is left out of that answer. */
  gauge(name: string, help: string, read: () => Reading): void {
    this.#add(name, help, "gauge", () => linesOf(read()));
  }

  /** Several states that one look gives.
   *  @param help by name @param read by name; one that throws or takes its time holds up this answer alone */
  gauges<Name extends string>(
    help: Readonly<Record<Name, string>>,
    read: () => Promise<Readonly<Record<Name, Reading>>>,
  ): void {
    const families = Object.entries<string>(help).map(([name, text]) => this.#family(name, text, "gauge"));
    this.#sources.push({
      families,
      read: async () => {
        const readings = await read();
        return Object.fromEntries(families.map(({ name }) => [name, linesOf(readings[name as Name])]));
      },
    });
  }

  /** How values are spread.
   *  @param bounds upper bounds of the buckets, rising */
  histogram(name: string, help: string, bounds: readonly number[] = SECONDS_BUCKETS): Histogram {
    const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
    this.#add(name, help, "histogram", () =>
      [...series.values()].flatMap(({ labels, counts, sum, count }): Line[] => [
        ...bounds.map((le, i): Line => ["_bucket", { ...labels, le: `${le}` }, counts[i] as number]),
        ["_bucket", { ...labels, le: "+Inf" }, count],
        ["_sum", labels, sum],
        ["_count", labels, count],
      ]),
    );
    return {
      observe: (value, labels = {}) => {
        const key = labelText(labels);
        const held = series.get(key) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
        series.set(key, held);
        for (const [i, bound] of bounds.entries())
          if (value <= bound) held.counts[i] = (held.counts[i] ?? 0) + 1;
        held.sum += value;
        held.count += 1;
      },
    };
  }

  /** Everything that is known now. Never throws. */
  async render(): Promise<string> {
    const parts = await Promise.all(
      this.#sources.map(async ({ families, read }) => {
        const lines = await read().catch((): Readonly<Record<string, readonly Line[]>> => ({}));
        return families.map((family) => renderFamily(family, lines[family.name] ?? [])).join("");
      }),
    );
    return parts.join("");
  }

  #add(name: string, help: string, kind: Kind, read: () => readonly Line[]): void {
    const family = this.#family(name, help, kind);
    this.#sources.push({ families: [family], read: async () => ({ [name]: read() }) });
  }

  /** @throws RangeError for a name that is no metric's, or was given before */
  #family(name: string, help: string, kind: Kind): Family {
    if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new RangeError(`${name} is no name of a metric`);
    if (this.#families.has(name)) throw new RangeError(`the metric ${name} is defined twice`);
    const family = { name, help, kind };
    this.#families.set(name, family);
    return family;
  }
}

function linesOf(reading: Reading): readonly Line[] {
  if (reading === undefined) return [];
  if (typeof reading === "number" || typeof reading === "bigint") return [["", {}, reading]];
  return reading.map(({ labels = {}, value }): Line => ["", labels, value]);
}

function renderFamily({ name, help, kind }: Family, lines: readonly Line[]): string {
  if (lines.length === 0) return "";
  const head = `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${kind}\n`;
  return (
    head + lines.map(([suffix, labels, value]) => `${name}${suffix}${labelText(labels)} ${value}\n`).join("")
  );
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
