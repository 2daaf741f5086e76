/** What an operator has to be told, by the metrics of provers and challengers: one table, which docs/monitoring/alerts.yml
 *  is made of (`npm run gen`) and which an explorer applies to the daemons that it watches. Limits of time suit an answer
 *  time T of an hour or more. */

export interface AlertRule {
  readonly name: string;
  readonly severity: "critical" | "warning";
  readonly metric: string;
  /** only series whose labels match these regular expressions as a whole */
  readonly where?: Readonly<Record<string, string>>;
  /** and whose labels are not these */
  readonly except?: Readonly<Record<string, string>>;
  /** of a counter: its rise in the last seconds, or that by second */
  readonly rise?: { readonly seconds: number; readonly perSecond?: boolean };
  /** taken together: series that agree in these labels and in the instance */
  readonly group?: { readonly by: readonly string[]; readonly take: "min" | "sum" };
  /** what of the value is compared, and shown */
  readonly of?: "size" | "negative";
  readonly is: "<" | ">" | "==";
  readonly limit: number;
  /** seconds for which it has to hold */
  readonly forSeconds?: number;
  /** what a value is, for people */
  readonly unit?: "seconds" | "wei";
  /** what has happened; {instance}, {value} and labels stand in braces */
  readonly summary: string;
  /** what to do now */
  readonly next: string;
  /** the command that helps, likewise */
  readonly command?: string;
}

const MINUTE = 60;
/** Least time that should be left to act, seconds. */
const LEAST_LEFT = 15 * MINUTE;

export const ALERT_RULES: readonly AlertRule[] = [
  {
    name: "AssayProcessDown",
    severity: "critical",
    metric: "up",
    where: { job: "assay.*" },
    is: "==",
    limit: 0,
    forSeconds: 2 * MINUTE,
    summary: "{instance} does not answer.",
    next: "Start it again: it goes on where it was. A prover or challenger that is down longer than the answer time loses its bond or its case.",
  },
  {
    name: "AssayNodeUnreachable",
    severity: "critical",
    metric: "assay_rpc_up",
    is: "==",
    limit: 0,
    forSeconds: 2 * MINUTE,
    summary: "The chain's node does not answer {instance}.",
    next: "Restore it, or point --rpc-url at another.",
    command: "assay doctor",
  },
  {
    name: "AssayBehind",
    severity: "critical",
    metric: "assay_chain_lag_blocks",
    is: ">",
    limit: 20,
    forSeconds: 5 * MINUTE,
    summary: "{instance} is {value} blocks behind its node.",
    next: "Look at its log and at the machine's load; a node that answers slowly may be replaced by --rpc-url.",
    command: "assay doctor",
  },
  {
    name: "AssayNoBlocks",
    severity: "warning",
    metric: "assay_chain_idle_seconds",
    is: ">",
    limit: 10 * MINUTE,
    unit: "seconds",
    summary: "{instance} has seen no block for {value}.",
    next: "Its node may be cut off from the network: compare its newest block with another node's.",
    command: "assay doctor",
  },
  {
    name: "AssayClockOff",
    severity: "warning",
    metric: "assay_clock_difference_seconds",
    of: "size",
    is: ">",
    limit: MINUTE,
    forSeconds: 10 * MINUTE,
    unit: "seconds",
    summary: "The clock of {instance} and the chain's differ by {value}.",
    next: "Run an NTP client; check the node.",
  },
  {
    name: "AssayTransactionsStuck",
    severity: "critical",
    metric: "assay_transactions_unmined",
    is: ">",
    limit: 0,
    forSeconds: 15 * MINUTE,
    summary: "{instance} has had transactions that are not mined for 15 minutes.",
    next: "Look at --max-fee and the balance; use its key nowhere else.",
  },
  {
    name: "AssayBalanceLow",
    severity: "warning",
    metric: "assay_account_balance_wei",
    is: "<",
    limit: 1e17,
    forSeconds: 5 * MINUTE,
    unit: "wei",
    summary: "The account of {instance} has {value}.",
    next: "Send ether to it, or withdraw its credit: without gas it answers nothing.",
    command: "assay withdraw",
  },
  {
    name: "AssayAnswerDue",
    severity: "critical",
    metric: "assay_prover_answer_seconds",
    group: { by: ["claim", "kind"], take: "min" },
    is: "<",
    limit: LEAST_LEFT,
    unit: "seconds",
    summary: "{instance} owes {kind} of claim {claim} within {value}, or its bond falls.",
    next: "It answers by itself while it runs, has gas and reaches its node: see that it does.",
    command: "assay claim show {claim}",
  },
  {
    name: "AssayAnswerOverdue",
    severity: "critical",
    metric: "assay_prover_answer_seconds",
    group: { by: ["claim", "kind"], take: "min" },
    of: "negative",
    is: ">",
    limit: 0,
    unit: "seconds",
    summary: "{instance} owes {kind} of claim {claim} and is {value} late: anybody may take its bond.",
    next: "Settle the request by truth if it accepts that, and find out why nothing was answered.",
    command: "assay claim show {claim}",
  },
  {
    name: "AssayClaimDisputed",
    severity: "warning",
    metric: "assay_prover_claims_disputed",
    is: ">",
    limit: 0,
    summary: "Own claims of {instance} are disputed: {value}.",
    next: "It answers by itself; see that none of its clocks runs out.",
  },
  {
    name: "AssayJobsFail",
    severity: "warning",
    metric: "assay_prover_jobs_ended_total",
    where: { outcome: "again" },
    rise: { seconds: 15 * MINUTE, perSecond: true },
    group: { by: ["kind"], take: "sum" },
    is: ">",
    limit: 0.1,
    forSeconds: 15 * MINUTE,
    summary: "Jobs of kind {kind} fail again and again on {instance}.",
    next: "Its log says why.",
  },
  {
    name: "AssayHttpFails",
    severity: "warning",
    metric: "assay_http_requests_total",
    where: { status: "5.." },
    rise: { seconds: 5 * MINUTE, perSecond: true },
    group: { by: [], take: "sum" },
    is: ">",
    limit: 0.1,
    forSeconds: 10 * MINUTE,
    summary: "{instance} answers {value} requests a second with a fault of its own.",
    next: "Its log says why, by request id.",
  },
  {
    name: "AssayWrongClaim",
    severity: "warning",
    metric: "assay_challenger_claims_checked_total",
    where: { verdict: "wrong" },
    rise: { seconds: 10 * MINUTE },
    is: ">",
    limit: 0,
    summary: "{instance} found a wrong claim.",
    next: "In mode defend it disputes it by itself; in the others a person has to.",
    command: "assay challenger investigate CLAIM",
  },
  {
    name: "AssayWrongClaimFinal",
    severity: "critical",
    metric: "assay_challenger_disputes_over_total",
    where: { ending: "final" },
    rise: { seconds: 60 * MINUTE },
    is: ">",
    limit: 0,
    summary: "A wrong claim became final in spite of {instance}.",
    next: "Tell whoever uses the model, and find out which move was late or missing.",
    command: "assay challenger investigate CLAIM",
  },
  {
    name: "AssayClockRunsOut",
    severity: "critical",
    metric: "assay_challenger_clock_seconds",
    where: { clock: "window|own_move" },
    group: { by: ["claim", "clock"], take: "min" },
    is: "<",
    limit: LEAST_LEFT,
    unit: "seconds",
    summary: "{instance} has {value} left on the clock {clock} of claim {claim}.",
    next: "It moves by itself while it runs, has gas and reaches its node: see that it does.",
    command: "assay challenger investigate {claim}",
  },
  {
    name: "AssayTicketUnaffordable",
    severity: "critical",
    metric: "assay_challenger_unaffordable_total",
    rise: { seconds: 10 * MINUTE },
    is: ">",
    limit: 0,
    summary: "{instance} leaves a wrong claim alone: its ticket would pass --max-exposure.",
    next: "Raise --max-exposure if the account has the ether, or have another challenger dispute it.",
  },
  {
    name: "AssayTicketsStopped",
    severity: "critical",
    metric: "assay_challenger_circuit_breaker",
    is: "==",
    limit: 1,
    summary: "{instance} files no more tickets until a person has looked.",
    next: "Investigate its last claims; file tickets again once the cause is found.",
    command: "assay challenger reset-breaker",
  },
  {
    name: "AssayNodeDisagrees",
    severity: "warning",
    metric: "assay_node_agrees",
    is: "==",
    limit: 0,
    forSeconds: 5 * MINUTE,
    summary: "{instance} has a node, {node}, that does not agree with the others.",
    next: "assay_node_faults says how: replace the node, or take it out of --rpc-url.",
  },
  {
    name: "AssayClaimUncheckable",
    severity: "warning",
    metric: "assay_challenger_claims_checked_total",
    where: { verdict: "could-not-check" },
    rise: { seconds: 10 * MINUTE },
    is: ">",
    limit: 0,
    summary: "{instance} could not check a claim.",
    next: "Its log says why.",
  },
  {
    name: "AssayClaimsWait",
    severity: "warning",
    metric: "assay_challenger_claims_unchecked",
    is: ">",
    limit: 100,
    forSeconds: 10 * MINUTE,
    summary: "{instance} does not keep up: {value} claims wait.",
    next: "Raise --width and --processes, or share the work.",
  },
  {
    name: "AssayClaimUncovered",
    severity: "warning",
    metric: "assay_challenger_claims_uncovered_total",
    rise: { seconds: 10 * MINUTE },
    is: ">",
    limit: 0,
    summary: "{instance} holds no folder for a claimed model: nobody here would see that it is wrong.",
    next: "Pull the model from a prover that serves it.",
    command: "assay model pull URL MODEL",
  },
  {
    name: "AssayEngineFault",
    severity: "warning",
    metric: "assay_challenger_engine_faults_total",
    rise: { seconds: 30 * MINUTE },
    is: ">",
    limit: 0,
    summary: "The fast path of {instance} {outcome}; the canonical executor stood in.",
    next: "Its log has the model and the input.",
  },
  {
    name: "AssayAttentionMissed",
    severity: "critical",
    metric: "assay_challenger_attention_tests_total",
    except: { result: "detected" },
    rise: { seconds: 60 * MINUTE },
    is: ">",
    limit: 0,
    summary: "{instance} did not find a planned wrong claim: it would not find a real one.",
    next: "Look at its log, its models and its machine before you trust it.",
    command: "assay doctor",
  },
];
