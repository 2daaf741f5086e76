/** A language model of the Llama family in binary64, plain and slow: what the derived integers stand for. */
import { HEAD_WIDTH, type SmallLlama } from "./small-llama.ts";

type Row = Float64Array;
/** Is told the numbers of a place at a site. */
type See = (site: string, row: Row) => void;

export interface Reference {
  /** of each place */
  readonly logits: readonly Row[];
}

/** @param ids those from the vocabulary's size on are nothing: no other place reads them */
export function llamaReference(model: SmallLlama, ids: readonly number[], see: See = () => {}): Reference {
  const { width, vocabulary, layers } = model;
  const table = valuesOf(model, "token_embd");
  let state: Row[] = ids.map((id) =>
    id < vocabulary ? table.slice(id * width, (id + 1) * width) : new Float64Array(width),
  );
  for (let layer = 0; layer < layers; layer++) {
    const name = (part: string) => `blk.${layer}.${part}`;
    const seen =
      (site: string) =>
      (row: Row): Row => {
        see(`${layer}.${site}`, row);
        return row;
      };
    const x = state.map((row) => seen("attention")(normal(model, row, name("attn_norm"))));
    const part = (of: "q" | "k" | "v") => x.map((row) => times(model, name(`attn_${of}`), row));
    const [q, k] = (["q", "k"] as const).map((of) =>
      part(of).map((row, place) => seen(of)(turned(model, row, place))),
    ) as [Row[], Row[]];
    const v = part("v").map(seen("v"));
    const mixed = ids.map((_, place) => seen("mixed")(attended(model, ids, place, { q, k, v })));
    state = state.map((row, place) =>
      plus(row, seen("out")(times(model, name("attn_output"), mixed[place] as Row))),
    );
    state = state.map((row) => {
      const y = seen("mlp")(normal(model, row, name("ffn_norm")));
      const gate = seen("gate")(times(model, name("ffn_gate"), y));
      const up = seen("up")(times(model, name("ffn_up"), y));
      const hidden = seen("hidden")(
        up.map((each, i) => (each * (gate[i] as number)) / (1 + Math.exp(-(gate[i] as number)))),
      );
      return plus(row, seen("down")(times(model, name("ffn_down"), hidden)));
    });
  }
  const head = model.tensors.has("output.weight") ? "output" : "token_embd";
  const logits = state.map((row) => {
    const last = normal(model, row, "output_norm");
    see("final", last);
    return times(model, head, last);
  });
  return { logits };
}

function valuesOf({ tensors }: SmallLlama, name: string): Row {
  const found = tensors.get(`${name}.weight`);
  if (found === undefined) throw new TypeError(`no tensor ${name}`);
  return found.values;
}

const plus = (a: Row, b: Row): Row => a.map((x, i) => x + (b[i] as number));

function times(model: SmallLlama, name: string, x: Row): Row {
  const weights = valuesOf(model, name);
  const out = new Float64Array(weights.length / x.length);
  for (let n = 0; n < out.length; n++) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += (weights[n * x.length + i] as number) * (x[i] as number);
    out[n] = sum;
  }
  return out;
}

function normal(model: SmallLlama, row: Row, name: string): Row {
  const gains = valuesOf(model, name);
  const mean = row.reduce((sum, x) => sum + x * x, 0) / row.length;
  return row.map((x, i) => (x / Math.sqrt(mean + model.epsilon)) * (gains[i] as number));
}

/** Channels 2i and 2i + 1 of each head are a point in the plane; the place turns it. */
function turned({ base }: SmallLlama, row: Row, place: number): Row {
  const out = new Float64Array(row.length);
  for (let i = 0; i < row.length; i += 2) {
    const angle = place / base ** ((i % HEAD_WIDTH) / HEAD_WIDTH);
    const [a, b] = [row[i] as number, row[i + 1] as number];
    out[i] = a * Math.cos(angle) - b * Math.sin(angle);
    out[i + 1] = b * Math.cos(angle) + a * Math.sin(angle);
  }
  return out;
}

function attended(
  { heads, sharedHeads, width, vocabulary }: SmallLlama,
  ids: readonly number[],
  place: number,
  { q, k, v }: Readonly<Record<"q" | "k" | "v", readonly Row[]>>,
): Row {
  const out = new Float64Array(width);
  const read = ids.flatMap((id, from) => (from === place || (from < place && id < vocabulary) ? [from] : []));
  for (let head = 0; head < heads; head++) {
    const own = head * HEAD_WIDTH;
    const shared = Math.floor((head * sharedHeads) / heads) * HEAD_WIDTH;
    const weights = read.map((from) => {
      let score = 0;
      for (let i = 0; i < HEAD_WIDTH; i++)
        score += ((q[place] as Row)[own + i] as number) * ((k[from] as Row)[shared + i] as number);
      return Math.exp(score / Math.sqrt(HEAD_WIDTH));
    });
    const total = weights.reduce((sum, x) => sum + x, 0);
    read.forEach((from, n) => {
      for (let i = 0; i < HEAD_WIDTH; i++)
        out[own + i] =
          (out[own + i] as number) +
          ((weights[n] as number) / total) * ((v[from] as Row)[shared + i] as number);
    });
  }
  return out;
}

const UNITS_PER_ONE = 256;
const SITES = ["attention", "q", "k", "mixed", "out", "mlp", "gate", "up", "hidden", "down"] as const;

/** Scales in the form of models/smollm2/scales.json, measured on texts of ids. */
export function measuredScales(model: SmallLlama, texts: readonly (readonly number[])[]) {
  /** by site, of each channel */
  const most = new Map<string, number[]>();
  for (const ids of texts)
    llamaReference(model, ids, (site, row) => {
      const before = most.get(site) ?? [];
      most.set(
        site,
        Array.from(row, (x, i) => Math.max(before[i] ?? 0, Math.abs(x))),
      );
    });
  const scale = (x: number) => Math.max(1, Math.ceil(x * UNITS_PER_ONE));
  const channels = (site: string) => (most.get(site) as number[]).map(scale);
  const largest = (site: string) => Math.max(...channels(site));
  const layers = Array.from({ length: model.layers }, (_, layer) => ({
    ...(Object.fromEntries(SITES.map((site) => [site, largest(`${layer}.${site}`)])) as Record<
      (typeof SITES)[number],
      number
    >),
    v: channels(`${layer}.v`),
  }));
  return { unit: "2^-8", layers, final: largest("final") };
}
export type Measured = ReturnType<typeof measuredScales>;
