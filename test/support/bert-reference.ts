/** A text classifier of the BERT family in binary64, plain and slow: what the derived integers stand for. */
import type { SmallBert } from "./small-bert.ts";

type Row = Float64Array;
/** Is told the numbers of a place at a site. */
type See = (site: string, row: Row) => void;

/** Scores of the classes, read at the first place. @param ids of a text, as many as are read */
export function bertReference(model: SmallBert, ids: readonly number[], see: See = () => {}): Row {
  const { width, layers, heads } = model;
  const rowOf = (name: string, row: number) => valuesOf(model, name).slice(row * width, (row + 1) * width);
  let state = ids.map((id, place) =>
    normal(
      model,
      plus(rowOf("token_embd.weight", id), rowOf("position_embd.weight", place)),
      "token_embd_norm",
    ),
  );
  for (let layer = 0; layer < layers; layer++) {
    const name = (part: string) => `blk.${layer}.${part}`;
    const part = (of: "q" | "k" | "v") =>
      state.map((row) => {
        const found = dense(model, name(`attn_${of}`), row);
        see(`${layer}.${of}`, found);
        return found;
      });
    const [q, k, v] = [part("q"), part("k"), part("v")];
    state = state.map((row, place) => {
      const mixed = attended(q[place] as Row, k, v, heads);
      return normal(model, plus(row, dense(model, name("attn_output"), mixed)), name("attn_output_norm"));
    });
    state = state.map((row) => {
      const up = dense(model, name("ffn_up"), row);
      see(`${layer}.up`, up);
      const down = dense(
        model,
        name("ffn_down"),
        up.map((x) => x * normalShare(x)),
      );
      return normal(model, plus(row, down), name("layer_output_norm"));
    });
  }
  return dense(model, "cls.output", state[0] as Row);
}

function valuesOf({ tensors }: SmallBert, name: string): Row {
  const found = tensors.get(name);
  if (found === undefined) throw new TypeError(`no tensor ${name}`);
  return found.values;
}

const plus = (a: Row, b: Row): Row => a.map((x, i) => x + (b[i] as number));

function dense(model: SmallBert, name: string, x: Row): Row {
  const weights = valuesOf(model, `${name}.weight`);
  return valuesOf(model, `${name}.bias`).map((bias, n) => {
    let sum = bias;
    for (let i = 0; i < x.length; i++) sum += (weights[n * x.length + i] as number) * (x[i] as number);
    return sum;
  });
}

function normal(model: SmallBert, row: Row, name: string): Row {
  const [gains, biases] = [valuesOf(model, `${name}.weight`), valuesOf(model, `${name}.bias`)];
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
  const length = Math.sqrt(variance + model.epsilon);
  return row.map((x, i) => ((x - mean) / length) * (gains[i] as number) + (biases[i] as number));
}

function attended(q: Row, k: readonly Row[], v: readonly Row[], heads: number): Row {
  const out = new Float64Array(q.length);
  const headWidth = q.length / heads;
  for (let head = 0; head < heads; head++) {
    const channels = Array.from({ length: headWidth }, (_, i) => head * headWidth + i);
    const weights = k.map((key) =>
      Math.exp(
        channels.reduce((sum, i) => sum + (q[i] as number) * (key[i] as number), 0) / Math.sqrt(headWidth),
      ),
    );
    const total = weights.reduce((sum, x) => sum + x, 0);
    for (const i of channels)
      out[i] = v.reduce((sum, value, n) => sum + ((weights[n] as number) / total) * (value[i] as number), 0);
  }
  return out;
}

/** The share of a normal distribution below x, by Simpson's rule from 0. */
function normalShare(x: number): number {
  const PARTS = 40;
  const step = x / PARTS;
  const density = (at: number) => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(0) + density(x);
  for (let i = 1; i < PARTS; i++) sum += (i % 2 === 0 ? 2 : 4) * density(i * step);
  return 0.5 + (sum * step) / 3;
}

/** Scales in the form that docs/DERIVE.md describes, measured on texts of ids. */
export function measuredBertScales(model: SmallBert, texts: readonly (readonly number[])[]) {
  const most = new Map<string, number[]>();
  for (const ids of texts)
    bertReference(model, ids, (site, row) => {
      const before = most.get(site) ?? [];
      most.set(
        site,
        Array.from(row, (x, i) => Math.max(before[i] ?? 0, Math.abs(x))),
      );
    });
  const channels = (site: string) => (most.get(site) as number[]).map((x) => Math.max(1, Math.ceil(x * 256)));
  const largest = (site: string) => Math.max(...channels(site));
  const layers = Array.from({ length: model.layers }, (_, layer) => ({
    ...{ q: largest(`${layer}.q`), k: largest(`${layer}.k`), up: largest(`${layer}.up`) },
    v: channels(`${layer}.v`),
  }));
  return { unit: "2^-8", layers };
}
