/** deployment.json of an exported site: what its pages read, and by which nodes. */
import * as z from "zod";
import { BaseError } from "../../base/errors.ts";
import type { Manifest } from "../../inference/manifest/assay.ts";
import type { ProofManifest } from "../../inference/manifest/proof-model.ts";
import { type Deployment, parseDeployment, renderDeployment } from "../../protocol/chain/deployment.ts";
import type { ModelFile } from "../shelf.ts";

export const SITE_FILE = "deployment.json";
/** Of models, beside it: folder, manifest and files of each. */
export const MODELS_FILE = "models.json";
/** Where a model's files are. */
export const modelPath = (id: string, name: string): string => `models/${id}/${encodeURIComponent(name)}`;

/** One of MODELS_FILE. */
export interface SiteModel {
  readonly folder: string;
  readonly manifest: Manifest | ProofManifest;
  /** those that are there */
  readonly files: readonly ModelFile[];
}

export interface SiteFile {
  readonly deployment: Deployment;
  /** of a node, or of several, separated by commas: everybody can read it */
  readonly rpcUrl: string;
  /** how many of several have to agree; absent: all of two, a majority of more */
  readonly quorum?: number | undefined;
  /** blocks that a block must have above it */
  readonly confirmations: number;
  readonly pollIntervalMs: number;
  /** events after which a browser reads no further */
  readonly maxEvents: number;
}

const schema = z.strictObject({
  deployment: z.unknown(),
  rpcUrl: z.string().min(1),
  quorum: z.int().min(1).optional(),
  confirmations: z.int().min(0),
  pollIntervalMs: z.int().min(1),
  maxEvents: z.int().min(1),
});

/** @throws BaseError SITE_INVALID, DEPLOYMENT_INVALID */
export function parseSite(text: string): SiteFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid("it is no JSON", cause);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    const { deployment, ...rest } = parsed.data;
    return { ...rest, deployment: parseDeployment(JSON.stringify(deployment), SITE_FILE) };
  }
  const [issue] = parsed.error.issues;
  throw invalid(`${issue?.path.join(".") || "the file"}: ${issue?.message}`, parsed.error);
}

export function renderSite({ deployment, ...rest }: SiteFile): string {
  return `${JSON.stringify({ deployment: JSON.parse(renderDeployment(deployment)), ...rest }, null, 2)}\n`;
}

const invalid = (why: string, cause: unknown): BaseError =>
  new BaseError({
    code: "SITE_INVALID",
    shortMessage: `${SITE_FILE} of this site cannot be used: ${why}.`,
    nextStep: "Whoever publishes the site exports it again with `assay explorer export`.",
    cause,
  });
