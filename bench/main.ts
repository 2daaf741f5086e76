/** `npm run bench`: measures, prints each figure beside its target, and writes docs/BENCHMARKS.md.
 *  `npm run bench -- NAME…` (or `--only NAME`) runs parts and writes nothing, unless `--write` puts their sections
 *  into the page. `--json` prints the rows of those parts that have rows, and nothing else. `--claims N` is how many
 *  claims, leaves, answers or checks `load`, `explorer`, `leaves`, `promises-load` and `workers` make. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BaseError } from "../base/errors.ts";
import { hasChromium } from "../test/support/chromium.ts";
import { projectRoot } from "../tools/foundry.ts";
import { ANSWERS_PART } from "./answers.ts";
import { ATTENTION_PART } from "./attention.ts";
import { drawAll } from "./charts/draw.ts";
import { EXECUTOR_PARTS } from "./executor.ts";
import { EXPLORER_PART } from "./explorer/part.ts";
import { FEEDS_PART } from "./feeds.ts";
import { GAS_PARTS } from "./gas.ts";
import { GROWTH_PART } from "./growth/part.ts";
import { INFERENCE_PARTS } from "./inference.ts";
import { LANE_PARTS } from "./lanes/parts.ts";
import { LOAD_PART } from "./load/part.ts";
import { LEAVES_PART } from "./promises/leaves.ts";
import { PROMISES_PART } from "./promises/part.ts";
import { SIGNED_PART } from "./promises/signed.ts";
import { WHOLE_PART } from "./promises/whole-part.ts";
import {
  describeMachine,
  mergePage,
  type Part,
  type PartResult,
  renderPage,
  renderText,
  runPart,
} from "./report.ts";
import { RUST_PARTS } from "./rust.ts";
import { SEQUENCES_PART } from "./sequences/part.ts";
import { TREES_PART } from "./trees.ts";
import { WORKERS_PART } from "./workers/part.ts";

const PARTS: readonly Part[] = [
  ...INFERENCE_PARTS,
  ...EXECUTOR_PARTS,
  ...GAS_PARTS,
  GROWTH_PART,
  LOAD_PART,
  EXPLORER_PART,
  TREES_PART,
  ATTENTION_PART,
  SEQUENCES_PART,
  ANSWERS_PART,
  ...RUST_PARTS,
  FEEDS_PART,
  PROMISES_PART,
  LEAVES_PART,
  SIGNED_PART,
  WHOLE_PART,
  WORKERS_PART,
  ...LANE_PARTS,
];

function chosen(only: readonly string[]): readonly Part[] {
  const unknown = only.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown !== undefined) {
    throw new BaseError({
      code: "PART_UNKNOWN",
      shortMessage: `There is no part ${JSON.stringify(unknown)}.`,
      nextStep: `Use ${PARTS.map(({ name }) => name).join(", ")}.`,
    });
  }
  return only.length === 0 ? PARTS : PARTS.filter(({ name }) => only.includes(name));
}

function claimsOf(text: string): number {
  if (/^[1-9]\d{1,5}$/.test(text)) return Number(text);
  throw new BaseError({
    code: "ARGUMENT_INVALID",
    shortMessage: `--claims is ${JSON.stringify(text)}, must be 10 to 999999.`,
    nextStep: "Leave it out for 10,000.",
  });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      claims: { type: "string" },
      write: { type: "boolean", default: false },
    },
  });
  const only = [...positionals, ...values.only];
  const parts = chosen(only);
  const options = values.claims === undefined ? {} : { claims: claimsOf(values.claims) };
  const print = values.json ? () => undefined : (line: string) => console.log(line);
  for (const line of describeMachine()) print(line);
  const results: PartResult[] = [];
  for (const part of parts) {
    const result = await runPart(part, options);
    print(`\n${renderText(result)}`);
    results.push(result);
  }
  if (values.json)
    console.log(
      JSON.stringify(
        results.flatMap(({ rows }) => rows),
        null,
        2,
      ),
    );
  if (only.length > 0 && !values.write) return;
  for (const [path, content] of results.flatMap(({ files }) => Object.entries(files ?? {}))) {
    writeFileSync(join(projectRoot, path), content);
  }
  if (results.some(({ files }) => Object.keys(files ?? {}).some((file) => file.startsWith("docs/charts/")))) {
    if (hasChromium()) await drawAll();
    else print("The charts are not drawn: there is no Chromium (CHROMIUM); bench/charts/draw.ts does it.");
  }
  const path = join(projectRoot, "docs/BENCHMARKS.md");
  const page =
    only.length === 0 ? renderPage(results, "npm run bench") : mergePage(readFileSync(path, "utf8"), results);
  writeFileSync(path, page);
  print(`\nWritten to ${path}`);
}

await main();
