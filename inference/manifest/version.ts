/** Semantic versions (SemVer 2.0.0) and what a change of the functions asks of them. */

import { type AbiFunction, signatureOf } from "./abi.ts";

const PART = "(0|[1-9][0-9]*)";
const IDENTIFIER = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)";
const VERSION = new RegExp(
  `^${PART}\\.${PART}\\.${PART}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

/** Major, minor, patch; undefined for anything that is no semantic version. */
export function parseVersion(text: string): readonly [number, number, number] | undefined {
  const match = VERSION.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

interface Versioned {
  readonly version: string;
  readonly abi: readonly AbiFunction[];
}

/** Why `after` cannot follow `before`: a removed or changed function needs a new major version, a new one a new minor. */
export function versionFaults(before: Versioned, after: Versioned): string[] {
  const [from, to] = [parseVersion(before.version), parseVersion(after.version)];
  if (from === undefined || to === undefined) return ["both versions must be semantic versions"];
  const shape = (f: AbiFunction): string =>
    `${signatureOf(f)} ${signatureOf({ name: "returns", inputs: f.outputs })}`;
  const now = new Set(after.abi.map(shape));
  const old = new Set(before.abi.map(shape));
  const broken = before.abi.filter((f) => !now.has(shape(f))).map(signatureOf);
  const added = after.abi.filter((f) => !old.has(shape(f))).map(signatureOf);
  if (broken.length > 0 && to[0] <= from[0]) {
    return broken.map((s) => `${s} is removed or changed, which needs a major version above ${from[0]}`);
  }
  if ((to[0] - from[0] || to[1] - from[1] || to[2] - from[2]) < 0) {
    return [`version ${after.version} is older than ${before.version}`];
  }
  const minor = to[0] > from[0] || (to[0] === from[0] && to[1] > from[1]);
  return added.length > 0 && !minor
    ? added.map((s) => `${s} is new, which needs a minor version above ${from[1]}`)
    : [];
}
