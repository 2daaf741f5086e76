/** Writes test/vectors/agent-calldata.json: calldata and replies as Foundry's cast encodes them, which shares no code
 *  with viem. Run it again after a change of the calls below: `npx tsx test/support/make-agent-vectors.ts`. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { signatureOf } from "../../inference/manifest/abi.ts";
import { foundryBinary } from "../../tools/foundry.ts";
import { type AgentCallCase, CALLS } from "./agent-calls.ts";

const cast = (...args: string[]) => execFileSync(foundryBinary("cast"), args, { encoding: "utf8" }).trim();

/** A value as cast reads it on a command line. */
function castValue(value: unknown, nested = false): string {
  if (Array.isArray(value)) return `[${value.map((v) => castValue(v, true)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    return `(${Object.values(value)
      .map((v) => castValue(v, true))
      .join(",")})`;
  }
  const text = `${value}`;
  return nested && typeof value === "string" && !/^(0x|-?[0-9]+$)/.test(text) ? JSON.stringify(text) : text;
}

function vectorOf({ method, args, results }: AgentCallCase) {
  const signature = signatureOf(method);
  const outputs = signatureOf({ name: "f", inputs: method.outputs });
  // cast abi-encode encodes the parameters of a signature, whatever its name.
  const reply = cast("abi-encode", outputs, "--", ...results.map((v) => castValue(v)));
  return { signature, calldata: cast("calldata", signature, "--", ...args.map((v) => castValue(v))), reply };
}

const version = JSON.parse(readFileSync("node_modules/@foundry-rs/cast/package.json", "utf8")).version;
const vectors = CALLS.map(vectorOf);
writeFileSync(
  "test/vectors/agent-calldata.json",
  `${JSON.stringify({ source: `cast ${version}, by test/support/make-agent-vectors.ts`, vectors }, undefined, 1)}\n`,
);
