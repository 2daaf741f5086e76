/** Reads Prometheus's text form as strictly as its own parser: what it refuses, a server refuses too. */

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const SAMPLE = new RegExp(
  `^(${NAME})(\\{[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"(?:,[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*")*\\})? (\\S+)$`,
);

/** @returns values by name with labels, as they are written
 *  @throws Error for a line that is no sample, a sample twice, or one before its type */
export function parseExposition(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  if (!text.endsWith("\n")) throw new Error("The last line does not end.");
  for (const line of text.slice(0, -1).split("\n")) {
    const type = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(line);
    if (type !== null) {
      if (types.has(type[1] as string)) throw new Error(`Two types: ${line}`);
      types.set(type[1] as string, type[2] as string);
    }
    if (line.startsWith("# ") || line === "") continue;
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`No sample: ${JSON.stringify(line)}`);
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(family)) throw new Error(`No type before: ${line}`);
    const number = value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value);
    if (Number.isNaN(number) && !/^nan$/i.test(value as string)) throw new Error(`No number: ${line}`);
    if (samples.has(name + labels)) throw new Error(`Twice: ${line}`);
    samples.set(name + labels, number);
  }
  return samples;
}

/** What GET /metrics of a process answers. */
export async function fetchMetrics(url: string): Promise<Map<string, number>> {
  return parseExposition(await (await fetch(`${url}/metrics`)).text());
}
