import { isDeepStrictEqual } from "node:util";
import type { AgentMetadata } from "../../inference/manifest/assay.ts";
import { versionFaults } from "../../inference/manifest/version.ts";

/** Why one release of an agent cannot follow another under its version: a method was removed or changed without a new
 *  major version, added without a new minor one, or anything at all changed under the same version.
 *  Source: specs/003, lines 591-594. */
export function releaseFaults(before: AgentMetadata, after: AgentMetadata): readonly string[] {
  const faults = versionFaults(before, after);
  if (faults.length > 0 || before.version !== after.version || isDeepStrictEqual(before, after))
    return faults;
  return [`the metadata changed, which needs a version above ${before.version}`];
}
