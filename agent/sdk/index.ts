/** The SDK for agents that live off chain: ask a model, wait until its output is final, keep a receipt that anybody can
 *  verify offline. Runs in Node.js and in browsers. docs/SDK.md shows how. */
export { BaseError, isBaseError } from "../../base/errors.ts";
export type { Meaning } from "../../inference/meaning/form.ts";
export type { Reading } from "../../inference/meaning/read.ts";
export { type Chain, type ConnectOptions, connect } from "../../protocol/chain/connect.ts";
export { type Deployment, parseDeployment } from "../../protocol/chain/deployment.ts";
export type { ChainEvent } from "../../protocol/chain/events.ts";
export { makeReceipt, type Provable } from "../../protocol/chain/make-receipt.ts";
export { makeRecord, type Recorded } from "../../protocol/chain/make-record.ts";
export type { GameAddress } from "../../protocol/rules/ids.ts";
export { type Presented, parsePresented, renderPresented } from "../../protocol/rules/promises/presented.ts";
export type { Digest, SignedClaim } from "../../protocol/rules/promises/signed-claim.ts";
export type { Evidence, Trust } from "../../protocol/rules/receipt/evidence.ts";
export { parseReceipt, type Receipt, renderReceipt } from "../../protocol/rules/receipt/receipt.ts";
export {
  type CorrectnessRecord,
  parseRecord,
  type RecordVerdict,
  renderRecord,
  type Subject,
  verifyRecord,
} from "../../protocol/rules/receipt/record.ts";
export { type Demands, type Verdict, verifyReceipt } from "../../protocol/rules/receipt/verify.ts";
export {
  type Claim,
  type ClaimId,
  type FallReason,
  type GameConstants,
  LANE,
  type LaneName,
  type ModelId,
  type Policy,
  type Request,
  type RequestId,
} from "../../protocol/rules/types.ts";
export type { ProverTerms } from "./ask-prover.ts";
export {
  infer,
  inferBytes,
  type Model,
  type ModelManifest,
  openModel,
  readingOf,
  type Values,
} from "./model.ts";
export { type Asked, prepareRequest, request, sendRequest, type Terms } from "./request.ts";
export {
  askSigned,
  type Reported,
  report,
  type SignedOutput,
  type SignedTerms,
  type SpotCheck,
  type SpotCheckOptions,
  spotCheck,
} from "./signed.ts";
export { askSignedMany, type ManySignedTerms } from "./signed-many.ts";
export { type FinalAnswer, type FinalTool, finalTool, type ToolForm, type ToolOptions } from "./tool.ts";
export {
  type Call,
  type Validatable,
  type ValidationStatement,
  validationStatement,
} from "./validation.ts";
export { type Final, type FinalityTerms, policyOf, receiptOf, wait } from "./wait.ts";
export { type Life, type WatchOptions, watch } from "./watch.ts";
