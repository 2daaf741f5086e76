/** What a benchmark yields, and how it is shown. */
import { cpus, totalmem, type } from "node:os";

/** One measured number. */
export interface Figure {
  readonly name: string;
  /** with its unit */
  readonly value: string;
  /** what it should be; absent: it is only reported */
  readonly target?: string;
  readonly isMet?: boolean;
}

export interface BenchOptions {
  /** of the load; absent: as many as its title says */
  readonly claims?: number;
}

export interface Part {
  /** for --only */
  readonly name: string;
  readonly title: string;
  /** how it is measured, in a sentence or two */
  readonly method: string;
  run(options: BenchOptions): Promise<readonly Figure[] | Measured>;
}

/** Numbers that are read across: a column for each thing that is compared. */
export interface Table {
  /** the first one heads the rows' names */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Figures and tables, and the same as data for --json. */
export interface Measured {
  readonly figures: readonly Figure[];
  /** below the figures */
  readonly tables?: readonly Table[];
  readonly rows: readonly object[];
  /** What is written beside the page, by path in the repository. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface PartResult {
  readonly part: Part;
  readonly figures: readonly Figure[];
  readonly tables?: readonly Table[];
  readonly rows: readonly object[];
  readonly files?: Readonly<Record<string, string>>;
}

/** Runs a part. */
export async function runPart(part: Part, options: BenchOptions = {}): Promise<PartResult> {
  const measured = await part.run(options);
  return "rows" in measured ? { part, ...measured } : { part, figures: measured, rows: [] };
}

export const grouped = (value: number | bigint): string => value.toLocaleString("en-US");

export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/** A count that must be one number. */
export const exactly = (name: string, value: number, target: number): Figure => ({
  ...{ name, value: grouped(value), target: grouped(target), isMet: value === target },
});

/** Gas with a limit, or without. */
export function gasFigure(name: string, gas: bigint, limit?: number): Figure {
  const value = `${grouped(gas)} gas`;
  if (limit === undefined) return { name, value };
  return { name, value, target: `≤ ${grouped(limit)}`, isMet: Number(gas) <= limit };
}

const verdict = ({ isMet }: Figure): string => (isMet === undefined ? "" : isMet ? "yes" : "NO");

/** Lines for a terminal. */
export function renderText({ part, figures, tables = [] }: PartResult): string {
  const width = (column: (figure: Figure) => string) => Math.max(0, ...figures.map((f) => column(f).length));
  const [name, value] = [width((f) => f.name), width((f) => f.value)];
  const lines = figures.map((figure) => {
    const target = figure.target === undefined ? "" : `  target ${figure.target}: ${verdict(figure)}`;
    return `  ${figure.name.padEnd(name)}  ${figure.value.padStart(value)}${target}`;
  });
  return [
    `${part.title}`,
    ...lines,
    ...tables.flatMap(({ columns, rows }) => aligned([columns, ...rows])),
  ].join("\n");
}

/** Columns side by side, behind an empty line. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (i: number): number => Math.max(...rows.map((row) => (row[i] ?? "").length));
  return [
    "",
    ...rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widthOf(i))).join("  ")}`.trimEnd()),
  ];
}

/** What the numbers depend on besides the code. */
export function describeMachine(): string[] {
  const processors = cpus();
  return [
    `CPU: ${processors[0]?.model.trim() ?? "unknown"}, ${processors.length} cores`,
    `Memory: ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `System: ${type()}, ${process.arch}`,
    `Node: ${process.version}`,
  ];
}

/** @param machine where it is another one than the page's */
function renderSection({ part, figures, tables = [] }: PartResult, machine?: readonly string[]): string {
  const results: Table = {
    columns: ["figure", "measured", "target", "met"],
    rows: figures.map((figure) => [figure.name, figure.value, figure.target ?? "", verdict(figure)]),
  };
  return [
    `## ${part.title}`,
    "",
    part.method,
    "",
    ...(machine === undefined ? [] : [`Measured on another machine. ${machine.join("; ")}.`, ""]),
    ...(figures.length === 0 ? [] : [results]).concat(tables).flatMap(renderTable),
  ].join("\n");
}

function renderTable({ columns, rows }: Table): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(columns), `|${"---|".repeat(columns.length)}`, ...rows.map(line), ""];
}

/** A page of all parts. */
export function renderPage(results: readonly PartResult[], command: string): string {
  return [
    "# Benchmarks",
    "",
    `Written by \`${command}\`; repeat it to measure on another machine.`,
    "",
    ...describeMachine().map((line) => `- ${line}`),
    "",
    ...results.map((result) => renderSection(result)),
  ].join("\n");
}

/** A page whose sections of these parts are replaced; those that it lacks come last. */
export function mergePage(page: string, results: readonly PartResult[]): string {
  const [head = "", ...sections] = page.split(/^(?=## )/m);
  const machine = describeMachine();
  const isSame = machine.every((line) => head.includes(`- ${line}\n`));
  const merged = sections.map((section) => `${section.trimEnd()}\n`);
  for (const result of results) {
    const at = merged.findIndex((section) => section.startsWith(`## ${result.part.title}\n`));
    merged.splice(
      at < 0 ? merged.length : at,
      at < 0 ? 0 : 1,
      renderSection(result, isSame ? undefined : machine),
    );
  }
  return [`${head.trimEnd()}\n`, ...merged].join("\n");
}
