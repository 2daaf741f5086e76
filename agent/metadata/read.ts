/** Reads agent metadata that somebody else wrote. */
import { BaseError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { type AbiFunction, type AbiParameter, isTuple } from "../../inference/manifest/abi.ts";
import type { AgentMetadata } from "../../inference/manifest/assay.ts";
import { METADATA_LIMITS } from "../../inference/manifest/metadata-rules.ts";
import type { ManifestReport } from "../../inference/manifest/problems.ts";
import { validateManifest } from "../../inference/manifest/validate.ts";

export type MetadataReading = ManifestReport & {
  /** there if there are no errors */
  readonly metadata?: AgentMetadata;
};

/** All problems of a metadata file, and what it says if it is valid.
 *  @param content UTF-8 JSON
 *  @throws BaseError METADATA_TOO_LARGE, JSON_INVALID, TEXT_NOT_UNICODE: no JSON that could have problems */
export function readMetadata(content: Uint8Array): MetadataReading {
  if (content.length > METADATA_LIMITS.bytes) {
    throw new BaseError({
      code: "METADATA_TOO_LARGE",
      shortMessage: `The metadata has ${content.length} bytes, at most ${METADATA_LIMITS.bytes} are read.`,
      nextStep: "Host images elsewhere and name them by URL.",
      details: { bytes: content.length, limit: METADATA_LIMITS.bytes },
    });
  }
  const value = parseJson(content, "the metadata");
  const report = validateManifest(value);
  return report.errors.length > 0 ? report : { ...report, metadata: normalized(value as AgentMetadata) };
}

/** @throws BaseError METADATA_INVALID with all problems, and what `readMetadata` throws */
export function requireMetadata(content: Uint8Array, file: string): AgentMetadata {
  const { metadata, errors } = readMetadata(content);
  if (metadata !== undefined) return metadata;
  const lines = errors.map(({ path, message }) => `${path}: ${message}`);
  throw new BaseError({
    code: "METADATA_INVALID",
    shortMessage: `${file} breaks ${lines.length} rule(s):\n${lines.join("\n")}`,
    nextStep: "Correct it; docs/AGENT-METADATA.md has the rules.",
    details: { problems: lines },
  });
}

/** What the compiler adds to an ABI for itself, `internalType`, is left out; so are unknown fields. */
function normalized(metadata: AgentMetadata): AgentMetadata {
  const { name, description, container_image, version, abi } = metadata;
  const { author, tags, image, homepage, repository, external_url, attributes } = metadata;
  const optional = { author, tags, image, homepage, repository, external_url, attributes };
  const held = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return { name, description, container_image, version, ...held, abi: abi.map(normalizedFunction) };
}

const describedBy = ({ description }: { readonly description?: string }) =>
  description === undefined ? {} : { description };

export function normalizedFunction(f: AbiFunction): AbiFunction {
  const { name, stateMutability } = f;
  return {
    type: "function",
    name,
    ...describedBy(f),
    inputs: f.inputs.map(normalizedParameter),
    outputs: f.outputs.map(normalizedParameter),
    ...(stateMutability === undefined ? {} : { stateMutability }),
  };
}

function normalizedParameter(parameter: AbiParameter): AbiParameter {
  const { name = "", type, components = [] } = parameter;
  const parts = isTuple(type) ? { components: components.map(normalizedParameter) } : {};
  return { name, type, ...describedBy(parameter), ...parts };
}
