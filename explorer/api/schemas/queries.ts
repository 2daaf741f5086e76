/** What may stand in a path and after a question mark. */
import { z } from "zod";
import { address, claimState, fallReason, id, lane, requestState } from "./common.ts";
import { batchState, signedState } from "./promises.ts";

export const MAX_PAGE = 100;
const DEFAULT_PAGE = 25;

const anyAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits");
const paging = {
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
  before: z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .optional()
    .meta({ description: "`next` of the page before" }),
};
const times = {
  since: z.coerce.number().int().min(0).optional().meta({ description: "seconds since 1970" }),
  until: z.coerce.number().int().min(0).optional(),
};

export const requestsQuery = z.strictObject({
  ...paging,
  ...times,
  state: requestState.optional(),
  model: id.optional(),
  requester: anyAddress.optional(),
  lane: lane.optional().meta({ description: "in which it became final" }),
});
export const claimsQuery = z.strictObject({
  ...paging,
  ...times,
  state: claimState.optional(),
  model: id.optional(),
  prover: anyAddress.optional(),
  challenger: anyAddress.optional(),
  fall: fallReason.optional(),
  disputed: z.enum(["true", "false"]).optional().meta({ description: "whether it has or had a ticket" }),
});
export const eventsQuery = z.strictObject({
  ...paging,
  name: z
    .string()
    .regex(/^[A-Za-z]{1,40}$/)
    .optional(),
  model: id.optional(),
  request: id.optional(),
  claim: id.optional(),
  batch: id.optional(),
  digest: id.optional().meta({ description: "of a signed claim" }),
  account: anyAddress.optional(),
});
export const batchesQuery = z.strictObject({
  ...paging,
  ...times,
  state: batchState.optional(),
  model: id.optional(),
  prover: anyAddress.optional(),
});
export const leavesQuery = z.strictObject({
  limit: paging.limit,
  before: paging.before.meta({
    description: "`next` of the page before: the leaf that this one begins with",
  }),
});
export const signedClaimsQuery = z.strictObject({
  ...paging,
  ...times,
  state: signedState.optional(),
  model: id.optional(),
  prover: anyAddress.optional(),
});
export const modelsQuery = z.strictObject({ ...paging });
export const accountsQuery = z.strictObject({
  limit: paging.limit,
  before: z.string().max(80).optional().meta({ description: "`next` of the page before" }),
  role: z.enum(["requester", "prover", "challenger", "operator", "submitter"]).optional(),
});
export const searchQuery = z.strictObject({ q: z.string().min(1).max(200) });
export const recordQuery = z.strictObject({
  claim: id.optional().meta({ description: "absent: what truth settled, else the newest claim" }),
});
export const noQuery = z.strictObject({});

export const idPath = z.strictObject({ id });
export const leafPath = z.strictObject({
  id,
  index: z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number),
});
export const accountPath = z.strictObject({ address: anyAddress });
export const filePath = z.strictObject({ id, name: z.string().max(80) });
export { address };
