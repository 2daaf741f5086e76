/** The demo's timeline: every event of the chain as one line, with names instead of addresses and ids. */
import type { Address } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { decodePosition } from "../../inference/commit/positions.ts";
import type { TensorType } from "../../inference/program/form.ts";
import { describeEvent, describePosition } from "../../protocol/chain/describe.ts";
import { type ChainEvent, subjectOf } from "../../protocol/chain/events.ts";
import { FALL_REASONS, type RequestId } from "../../protocol/rules/types.ts";
import { Progress } from "./progress.ts";

export interface TimelineParts {
  /** first second of the timeline, ms since 1970 */
  readonly startMs: number;
  readonly names: ReadonlyMap<Address, string>;
  /** opcode and type of a step of the model that is disputed */
  readonly stepOf: (step: number) => { readonly opcode: string; readonly type: TensorType };
  readonly print: (line: string) => void;
}

export class Timeline extends Progress {
  readonly #parts: TimelineParts;
  readonly #questions = new Map<RequestId, string>();
  readonly #claims = new Map<string, string>();
  /** What credits added up to, by name, wei. */
  readonly credited = new Map<string, bigint>();

  constructor(parts: TimelineParts) {
    super(parts.startMs, parts.print);
    this.#parts = parts;
  }

  nameQuestion(id: RequestId, label: string): void {
    this.#questions.set(id, label);
  }

  /** What was asked and is not over, of these. */
  labelsOf(ids: readonly RequestId[]): string {
    return ids.map((id) => this.#questions.get(id) ?? id).join("; ");
  }

  logEvent(event: ChainEvent): void {
    const subject = this.#subjectOf(event);
    const line = this.#describe(event);
    if (line !== undefined) this.log(`${(subject ?? "").padEnd(11)} ${this.#named(line)}`);
  }

  #describe(event: ChainEvent): string | undefined {
    switch (event.name) {
      case "Claimed":
        return `claimed by ${event.args.claim.prover} with a bond of ${formatAmount(event.args.claim.bond)}`;
      case "TraceCommitted":
        return `${event.args.tops.length} tensor roots committed`;
      case "Revealed":
        return `${describePosition(decodePosition(event.args.position))} revealed: ${event.args.content.length} words`;
      case "Fell":
        return this.#fall(event.args);
      case "Credited": {
        const { account, amount } = event.args;
        const name = this.#parts.names.get(account) ?? account;
        this.credited.set(name, (this.credited.get(name) ?? 0n) + amount);
        return amount === 0n ? undefined : `${formatAmount(amount)} credited to ${account}`;
      }
      case "Burned":
        return event.args.amount === 0n ? undefined : `${formatAmount(event.args.amount)} burned`;
      case "Requested":
      case "Collected":
      case "ModelRegistered":
      case "Withdrawn":
        return undefined;
      default:
        return describeEvent(event);
    }
  }

  #fall({ reason, step, element, expected, claimed }: Extract<ChainEvent, { name: "Fell" }>["args"]): string {
    if (FALL_REASONS[reason] !== "ELEMENT") return `fell by ${FALL_REASONS[reason]}`;
    const { opcode, type } = this.#parts.stepOf(Number(step));
    const value = (stored: bigint): string =>
      String(type === "s32" ? BigInt.asIntN(32, stored) : type === "s8" ? stored - 128n : stored);
    return `CONVICTED: step ${step} (${opcode}), element ${element}: the judge computes ${value(expected)}, claimed was ${value(claimed)}`;
  }

  #subjectOf(event: ChainEvent): string | undefined {
    const { requestId, claimId } = subjectOf(event);
    if (requestId !== undefined) {
      const label = this.#questions.get(requestId);
      if (event.name === "Claimed" && label !== undefined) this.#claims.set(event.args.claimId, label);
      return label;
    }
    return claimId === undefined ? undefined : this.#claims.get(claimId);
  }

  #named(line: string): string {
    let text = line;
    for (const [address, name] of this.#parts.names) text = text.replaceAll(address, name);
    return text;
  }
}
