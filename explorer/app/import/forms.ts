/** What goes to the importer's worker, and what comes back. */
import type { Hex } from "../../../base/bytes.ts";
import type { ModelIdentity } from "../../../inference/commit/commitments.ts";
import type { Lane, ValueEntry } from "../../../inference/manifest/assay.ts";
import type { ImportSettings } from "../../../inference/onnx/import.ts";
import type { RequantizationReport, TreeReport } from "../../../inference/onnx/lower/reports.ts";
import type { RefusedParts } from "../../../inference/onnx/refused-import.ts";
import type { PublicationPlan } from "../../../protocol/chain/execution/publication.ts";
import type { PlanTerms } from "../../../protocol/chain/plan/plan.ts";
import type { StepSheet } from "../verify/steps.ts";

export interface ImportJob {
  /** the ONNX file, and what lies beside it */
  readonly files: readonly File[];
  /** what the model is called where there is no tool.json */
  readonly name: string;
  readonly settings: ImportSettings;
  /** instead of those of tool.json */
  readonly lanes?: readonly Lane[] | undefined;
}

/** Why there is no model, as `assay model import` says it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly nextStep?: string | undefined;
  /** node by node, where nodes are what is refused */
  readonly parts?: RefusedParts;
}

/** A step, with the ONNX node that it comes from. */
export type ImportedStep = StepSheet & { readonly node: string };

export interface ModelSheet {
  readonly modelId: Hex;
  readonly name: string;
  readonly codec: { readonly input: string; readonly output: string; readonly inputSize: number };
  readonly inputs: readonly ValueEntry[];
  readonly outputs: readonly ValueEntry[];
  readonly lanes: readonly Lane[];
  readonly steps: readonly ImportedStep[];
  readonly weightBytes: number;
  /** of the model's folder */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly requantizations: readonly RequantizationReport[];
  readonly trees: readonly TreeReport[];
  readonly notes: readonly string[];
  /** demands of the longest dispute */
  readonly depth: number;
  readonly hasKey: boolean;
  readonly seconds: number;
}

export type ImportOutcome =
  | { readonly kind: "imported"; readonly model: ModelSheet }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** What the chain and the reader say; the rest follows from the model. */
export type PlanWishes = Pick<
  PlanTerms,
  "constants" | "gasPrice" | "value" | "window" | "transactionGas" | "blockSeconds"
>;

/** What a deployment of the model sends. */
export interface Deployable {
  /** encoded */
  readonly program: Uint8Array;
  readonly identity: ModelIdentity;
  /** absent where the chain cannot run the model */
  readonly publication: PublicationPlan | undefined;
  readonly verificationKey: Uint8Array | undefined;
  /** of registration, key and publication: how many that store or register, and all of them, estimated */
  readonly registering: number;
  readonly transactions: number;
}
