/** Scores of derived SmolLM2 at every place of texts, for models/smollm2/evaluate.py: the program reads a text's first id as
 *  the prompt and the others as the answer that is claimed.
 *
 *      npx tsx bench/derived-scores.ts FILE.gguf SCORES.npy
 *
 *  SCORES.npy gets int32 [places of all texts of models/smollm2/texts.json, vocabulary]. It prints what 1 of a score is
 *  worth, for evaluate.py's --unit. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { tensorOf } from "../inference/derive/entries.ts";
import { readGguf } from "../inference/derive/gguf.ts";
import { deriveLlama } from "../inference/derive/llama/derive.ts";
import { readScales } from "../inference/derive/llama/scales.ts";
import { llamaShape } from "../inference/derive/llama/shape.ts";
import { quantizedRows } from "../inference/derive/quantized-rows.ts";
import { largest, MOST } from "../inference/derive/steps.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { elementCount, lastDim, type Step } from "../inference/program/form.ts";
import { ID_OFFSET } from "../inference/text/ids.ts";
import { SELECTOR } from "./chain.ts";

const [gguf = "", out = ""] = process.argv.slice(2);
const file = readGguf(new Uint8Array(readFileSync(gguf)));
const scales: unknown = JSON.parse(readFileSync("models/smollm2/scales.json", "utf8"));
const { texts } = JSON.parse(readFileSync("models/smollm2/texts.json", "utf8")) as {
  texts: [{ ids: number[] }];
};
const [{ ids: first }] = texts;
const { length } = first;
const { model, nodes } = deriveLlama(file, scales, { prompt: 1, answer: length - 1 });
const shape = llamaShape(file);
const table = quantizedRows(file, tensorOf(file, shape.head));
console.log("--unit", (largest(table.scales) * readScales(scales, shape).final) / MOST);

/** Scores before they are cut into rows: [places, rows of a part of the table]. */
const isScores = ({ opcode, dims }: Step, i: number): boolean =>
  nodes[i] === "choice" && opcode === "dot" && lastDim(dims) > shape.width;
const parts = model.program.steps.flatMap((step, i) => (isScores(step, i) ? [i] : []));
const prepared = prepare(model, SELECTOR);

const header = `{'descr': '<i4', 'fortran_order': False, 'shape': (${texts.length * (length - 1)}, ${shape.vocabulary}), }`;
const padded = header.padEnd(64 * Math.ceil((header.length + 11) / 64) - 11, " ");
const npy = openSync(out, "w");
writeSync(npy, Uint8Array.of(0x93, ...new TextEncoder().encode("NUMPY"), 1, 0));
writeSync(npy, Uint8Array.of((padded.length + 1) & 255, (padded.length + 1) >> 8));
writeSync(npy, `${padded}\n`);
for (const { ids } of texts) {
  const stored = ids.map((id) => id - ID_OFFSET);
  const claimed = new Uint8Array(64 + 32 * Math.ceil((length - 1) / 16));
  const view = new DataView(claimed.buffer);
  for (const [i, id] of stored.slice(1).entries()) view.setInt16(64 + 2 * i, id);
  const tensors = prepared.run({ codec: "int16s", int16s: stored.slice(0, 1) }, claimed);
  for (let place = 0; place < length - 1; place++) {
    for (const part of parts) {
      const { dims, data } = tensors[part] as (typeof tensors)[number];
      const columns = elementCount(dims) / (length - 1);
      const row = Int32Array.from(data.subarray(place * columns, (place + 1) * columns));
      writeSync(npy, new Uint8Array(row.buffer));
    }
  }
}
closeSync(npy);
