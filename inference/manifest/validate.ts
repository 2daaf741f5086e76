/** Validates a manifest by every rule of specs/003 (agent metadata); specs/CHECKLIST.md, rows S-01 to S-21, S-42 to S-53,
 *  resolves what that text leaves open. Reports all problems, not the first. */

import { toHex } from "../bytes.ts";
import { identifierFault, isCamelCase, isTuple, selectorOf, signatureOf, typeFault } from "./abi.ts";
import { checkAssay } from "./assay.ts";
import { isCid } from "./cid.ts";
import { Checker, kind, type ManifestReport } from "./problems.ts";
import { checkProofModel } from "./proof-model.ts";
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
const MUTABILITY = ["pure", "view", "nonpayable", "payable"];

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
    check.error("$.version", `${JSON.stringify(version)} is no semantic version, e.g. 1.0.0`);
  }
  checkAbi(check, manifest.abi);
  check.optional(manifest, "author", (v, path) => check.text(v, path));
  for (const key of ["image", "homepage", "repository", "external_url"]) {
    check.optional(manifest, key, (v, path) => {
      const url = check.text(v, path);
      if (url !== undefined && !isUrl(url)) check.error(path, `${JSON.stringify(url)} is no URL`);
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
    if (!KNOWN.has(key)) check.warn(`$.${key}`, "is no field of the format");
  }
  if (manifest.homepage === undefined) {
    check.warn("$.homepage", "is missing: a homepage holds usage examples, limits and requirements");
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
    if (!isCid(cid)) check.warn(path, `${cid} is no valid CID`);
  } else if (/^https?:/.test(image)) {
    if (!isUrl(image)) check.error(path, `${JSON.stringify(image)} is no URL`);
  } else if (!isCid(image)) {
    check.error(path, `${JSON.stringify(image)} is neither an https:// or ipfs:// URL nor a CID`);
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

function checkAbi(check: Checker, value: unknown): void {
  const abi = check.array(value, "$.abi");
  if (abi === undefined) return;
  if (abi.length === 0) check.error("$.abi", "must hold at least one function");
  const names = new Map<string, string>();
  const selectors = new Map<string, string>();
  abi.forEach((entry, i) => {
    checkFunction(check, entry, `$.abi[${i}]`, names, selectors);
  });
}

function checkFunction(
  check: Checker,
  value: unknown,
  path: string,
  names: Map<string, string>,
  selectors: Map<string, string>,
): void {
  const entry = check.object(value, path);
  if (entry === undefined) return;
  if (entry.type !== "function") {
    check.error(`${path}.type`, `must be "function", is ${JSON.stringify(entry.type) ?? "missing"}`);
  }
  const before = check.errors.length;
  const name = check.text(entry.name, `${path}.name`);
  if (name !== undefined) {
    const fault = identifierFault(name);
    if (fault !== undefined) check.error(`${path}.name`, fault);
    else if (!isCamelCase(name)) check.warn(`${path}.name`, `${name} is not camelCase`);
    if (names.has(name)) check.error(`${path}.name`, `${name} is also the name of ${names.get(name)}`);
    names.set(name, path);
  }
  const used = new Map<string, string>();
  const inputs = checkParameters(check, entry.inputs, `${path}.inputs`, used, true);
  checkParameters(check, entry.outputs, `${path}.outputs`, used, false);
  if (entry.description !== undefined) check.text(entry.description, `${path}.description`);
  else check.warn(`${path}.description`, "is missing");
  if (entry.stateMutability !== undefined && !MUTABILITY.includes(String(entry.stateMutability))) {
    check.error(`${path}.stateMutability`, `must be one of ${MUTABILITY.join(", ")}`);
  }
  if (name === undefined || inputs === undefined || check.errors.length > before) return;
  const f = { name, inputs: inputs as Parameters<typeof signatureOf>[0]["inputs"] };
  const selector = toHex(selectorOf(f));
  const other = selectors.get(selector);
  if (other !== undefined) check.error(path, `its selector ${selector} is also that of ${other}`);
  selectors.set(selector, signatureOf(f));
}

function checkParameters(
  check: Checker,
  value: unknown,
  path: string,
  used: Map<string, string>,
  top: boolean,
): unknown[] | undefined {
  const list = check.array(value, path);
  list?.forEach((entry, i) => {
    checkParameter(check, entry, `${path}[${i}]`, used, top);
  });
  return list;
}

function checkParameter(
  check: Checker,
  value: unknown,
  path: string,
  used: Map<string, string>,
  named: boolean,
): void {
  const entry = check.object(value, path);
  if (entry === undefined) return;
  if (typeof entry.name !== "string" && (named || entry.name !== undefined)) {
    check.error(`${path}.name`, `must be a string, is ${kind(entry.name)}`);
  } else if (typeof entry.name === "string" && entry.name !== "") {
    const fault = identifierFault(entry.name);
    if (fault !== undefined) check.error(`${path}.name`, fault);
    else if (!isCamelCase(entry.name)) check.warn(`${path}.name`, `${entry.name} is not camelCase`);
    const other = used.get(entry.name);
    if (other !== undefined) check.error(`${path}.name`, `${entry.name} is also the name of ${other}`);
    used.set(entry.name, path);
  }
  if (entry.description !== undefined) check.text(entry.description, `${path}.description`);
  else check.warn(`${path}.description`, "is missing");
  const type = check.text(entry.type, `${path}.type`);
  if (type === undefined) return;
  const fault = typeFault(type);
  if (fault !== undefined) check.error(`${path}.type`, `${JSON.stringify(type)}: ${fault}`);
  if (!isTuple(type)) return;
  const inner = check.array(entry.components, `${path}.components`);
  if (inner?.length === 0) check.error(`${path}.components`, "a tuple must have components");
  if (inner !== undefined) checkParameters(check, inner, `${path}.components`, new Map(), false);
}
