/** Validates a manifest by every rule of specs/003 (agent metadata); specs/CHECKLIST.md, rows S-01 to S-21, S-42 to S-53,
 *  resolves what that text leaves open. Reports all problems, not the first. */

import { checkAssay } from "./assay.ts";
import { isCid } from "./cid.ts";
import { Checker, kind, type ManifestReport, quoted } from "./problems.ts";
import { checkProofModel } from "./proof-model.ts";
import { checkAbi } from "./validate-abi.ts";
import { parseVersion } from "./version.ts";

const REQUIRED = ["name", "description", "container_image", "version", "abi"] as const;
const KNOWN = new Set([
  ...REQUIRED,
  "image",
  "author",
  "tags",
  "homepage",
  "repository",
  "external_url",
  "attributes",
  "assay",
]);

/** @param value parsed JSON */
export function validateManifest(value: unknown): ManifestReport {
  const check = new Checker();
  const manifest = check.object(value, "$");
  if (manifest !== undefined) checkManifest(check, manifest);
  return { errors: check.errors, warnings: check.warnings };
}

function checkManifest(check: Checker, manifest: Record<string, unknown>): void {
  check.text(manifest.name, "$.name");
  check.text(manifest.description, "$.description");
  const image = check.text(manifest.container_image, "$.container_image");
  if (image !== undefined) checkImage(check, image);
  const version = check.text(manifest.version, "$.version");
  if (version !== undefined && parseVersion(version) === undefined) {
    check.error("$.version", `${quoted(version)} is no semantic version, e.g. 1.0.0`, "version");
  }
  checkAbi(check, manifest.abi);
  check.optional(manifest, "author", (v, path) => check.text(v, path));
  for (const key of ["image", "homepage", "repository", "external_url"]) {
    check.optional(manifest, key, (v, path) => {
      const url = check.text(v, path);
      if (url !== undefined && !isUrl(url)) check.error(path, `${quoted(url)} is no URL`, "url");
    });
  }
  check.optional(manifest, "tags", (v, path) => {
    check.array(v, path)?.forEach((tag, i) => {
      check.text(tag, `${path}[${i}]`);
    });
  });
  check.optional(manifest, "attributes", (v, path) => {
    check.array(v, path)?.forEach((entry, i) => {
      checkAttribute(check, entry, `${path}[${i}]`);
    });
  });
  check.optional(manifest, "assay", (v, path) => {
    const { format } = (v ?? {}) as { format?: unknown };
    if (format === 2) checkProofModel(check, v as Record<string, unknown>, path);
    else checkAssay(check, v, path);
  });
  for (const key of Object.keys(manifest)) {
    if (!KNOWN.has(key)) check.warn(`$[${quoted(key)}]`, "is no field of the format", "unknown-field");
  }
  if (manifest.homepage === undefined) {
    check.warn("$.homepage", "is missing: it holds usage examples, limits and requirements", "homepage");
  }
}

function isUrl(text: string): boolean {
  try {
    return ["http:", "https:", "ipfs:", "data:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

function checkImage(check: Checker, image: string): void {
  const path = "$.container_image";
  const cid = /^ipfs:\/\/([^/?#]+)/.exec(image)?.[1];
  if (cid !== undefined) {
    if (!isCid(cid)) check.warn(path, `${quoted(cid)} is no valid CID`, "cid");
  } else if (/^https?:/.test(image)) {
    if (!isUrl(image)) check.error(path, `${quoted(image)} is no URL`, "container-image");
  } else if (!isCid(image)) {
    check.error(path, `${quoted(image)} is neither an https:// or ipfs:// URL nor a CID`, "container-image");
  }
}

function checkAttribute(check: Checker, value: unknown, path: string): void {
  const entry = check.object(value, path);
  if (entry === undefined) return;
  check.text(entry.trait_type, `${path}.trait_type`);
  if (
    typeof entry.value !== "string" &&
    typeof entry.value !== "number" &&
    typeof entry.value !== "boolean"
  ) {
    check.error(`${path}.value`, `must be a string, number or boolean, is ${kind(entry.value)}`);
  }
}
