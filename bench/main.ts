/** `npm run bench`: measures, prints each figure beside its target, and writes docs/BENCHMARKS.md.
 *  `--only NAME`, more than once if need be, runs parts and writes nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BaseError } from "../inference/errors.ts";
import { projectRoot } from "../tools/foundry.ts";
import { GAS_PARTS } from "./gas.ts";
import { INFERENCE_PARTS } from "./inference.ts";
import { describeMachine, type Part, type PartResult, renderPage, renderText } from "./report.ts";

const PARTS: readonly Part[] = [...INFERENCE_PARTS, ...GAS_PARTS];

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

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
  const parts = chosen(values.only);
  for (const line of describeMachine()) console.log(line);
  const results: PartResult[] = [];
  for (const part of parts) {
    const result = { part, figures: await part.run() };
    console.log(`\n${renderText(result)}`);
    results.push(result);
  }
  if (values.only.length > 0) return;
  const path = join(projectRoot, "docs/BENCHMARKS.md");
  writeFileSync(path, renderPage(results, "npm run bench"));
  console.log(`\nWritten to ${path}`);
}

await main();
