/** The operator's own daemons. */
import { z } from "zod";
import { address, count, id, seconds, wei } from "./common.ts";
import { claimSummary, deadline } from "./requests.ts";

const daemon = z.object({
  instance: z.string().meta({ description: "host and port at which it is asked" }),
  role: z.enum(["prover", "challenger"]).optional(),
  isUp: z.boolean().meta({ description: "it answered the last question" }),
  silentSeconds: count.optional().meta({ description: "since its last answer, where it does not answer" }),
  status: z.string().optional().meta({ description: "what its GET /healthz says" }),
  isElsewhere: z.boolean().meta({ description: "it works on another deployment than this explorer shows" }),
  account: address.optional(),
  balance: wei.optional().meta({ description: "as far as a double holds it" }),
  exposure: wei.optional().meta({ description: "in bonds or tickets that are not over, likewise" }),
  isNodeUp: z.boolean().optional(),
  blocksBehind: count.optional(),
  claimsActive: count.optional().meta({ description: "own ones" }),
  claimsDisputed: count.optional().meta({ description: "own ones, or wrong ones that it disputes" }),
  claimsUnchecked: count.optional().meta({ description: "that wait for a challenger's check" }),
});

const alert = z.object({
  rule: z.string().meta({ description: "as in docs/monitoring/alerts.yml" }),
  severity: z.enum(["critical", "warning"]),
  instance: z.string(),
  text: z.string().meta({ description: "what has happened" }),
  next: z.string().meta({ description: "what to do now" }),
  command: z.string().optional(),
  failure: z.string().meta({ description: "the section of docs/FAILURES.md that says more" }),
  claim: id.optional(),
  forSeconds: seconds.meta({ description: "how long it has held" }),
});

const clock = z.object({
  account: address,
  role: z.enum(["prover", "challenger"]),
  claim: claimSummary,
  isOwnMove: z.boolean().meta({ description: "that account has to move by then" }),
  deadline,
});

export const operator = z.object({
  daemons: z.array(daemon),
  alerts: z.array(alert).meta({ description: "the worst first" }),
  clocks: z
    .array(clock)
    .meta({ description: "claims that are not over: own moves first, the nearest first" }),
});
