/** The classifier of texts that is in the repository: its files, and its scores beside those of the float model, which
 *  models/sentiment-transformer/vectors.py computes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { checkedScales, derive, openWeights } from "../../../inference/derive/recipe.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { sha256Bytes } from "../../../inference/model-folder.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import { PieceText } from "../../../inference/text/piece-text.ts";

const FOLDER = "models/sentiment-transformer";
const LENGTH = 48;
const SCORE_UNIT = 2 ** -12;
const SELECTOR = Uint8Array.of(1, 2, 3, 4);

interface Vector {
  readonly text: string;
  readonly ids: readonly number[];
  readonly scores: readonly number[];
}

it("behavior: ids are those of the reference, scores are near the float model's, and classes are its", () => {
  const path = join(FOLDER, "scales.json");
  const scales = checkedScales(JSON.parse(readFileSync(path, "utf8")), path);
  const file = openWeights(
    scales.source,
    new Uint8Array(readFileSync(join(FOLDER, "weights.gguf"))),
    sha256Bytes,
  );
  const { model, nodes, text } = derive({ family: "bert", lengths: { text: LENGTH }, scales }, file);
  expect(() => proveProfile(model, nodes)).not.toThrow();
  if ("without" in text) throw new Error(text.without);
  const pieces = new PieceText(text.files, LENGTH);
  const prepared = prepare(model, SELECTOR);
  const vectors = JSON.parse(
    readFileSync("test/vectors/sentiment-transformer.json", "utf8"),
  ) as readonly Vector[];
  let most = 0;
  for (const { text, ids, scores } of vectors) {
    expect(pieces.beginning(text), text).toEqual(ids);
    const input = { codec: "int16s", int16s: pieces.int16s(text) } as const;
    const output = execute(prepared, encodeInput(model.program, SELECTOR, input));
    const found = Array.from(decodeOutput(model.program, output).data, (score) => score * SCORE_UNIT);
    const error = Math.max(...found.map((score, i) => Math.abs(score - (scores[i] as number))));
    most = Math.max(most, error);
    const [first, second] = [...scores].sort((a, b) => b - a) as [number, number];
    if (first - second > 2 * error)
      expect(found.indexOf(Math.max(...found)), text).toBe(scores.indexOf(first));
  }
  process.stdout.write(`scores are at most ${most.toFixed(3)} nat from the float model's\n`);
  expect(most).toBeLessThan(0.1);
});
