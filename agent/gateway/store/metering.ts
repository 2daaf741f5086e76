/** What calls cost, and the budgets that stop them. One row a call that ran, none for a denied one. */
import { formatAmount } from "../../../base/amounts.ts";
import { BaseError } from "../../../base/errors.ts";
import type { SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import type { Meter } from "../tool-service.ts";
import type { Agent } from "./agent-service.ts";

export interface SpendingLimits {
  /** most calls that run in one turn */
  readonly maxCallsPerTurn: number;
  /** most that one turn may cost */
  readonly maxPricePerTurn: number;
  /** most that one caller's calls may cost in a day */
  readonly maxPricePerCallerPerDay: number;
  /** most calls that one caller may run in a day, whatever they cost */
  readonly maxCallsPerCallerPerDay: number;
  /** most that all calls may promise on the chain in a day, wei */
  readonly maxFeesPerDay: bigint;
}

export interface Spender {
  readonly turnId: string;
  readonly agent: Agent;
  readonly caller: string;
}

export interface MeteringRow {
  readonly id: number;
  readonly at: number;
  readonly turn_id: string;
  readonly agent_id: string;
  readonly caller: string;
  readonly tool: string;
  readonly units: number;
  readonly price: number;
  readonly fee_wei: string;
  readonly outcome: "started" | "succeeded" | "failed" | "pending";
}

interface Total {
  readonly calls: number;
  readonly price: number;
}

const DAY_MS = 86_400_000;

export class Metering {
  readonly #db: SqliteDatabase;
  readonly #limits: SpendingLimits;
  readonly #nowMs: () => number;

  constructor(db: SqliteDatabase, limits: SpendingLimits, nowMs: () => number) {
    this.#db = db;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** The meter of one turn. A call is charged when it succeeds; while it runs its price is held. */
  meterFor(spender: Spender): Meter {
    const start = this.#db.transaction((tool: string, price: number, fee: bigint): number => {
      this.#check(spender, price, fee);
      const { turnId, agent, caller } = spender;
      const row = this.#db
        .prepare(
          "INSERT INTO metering (at, turn_id, agent_id, caller, tool, units, price, fee_wei, outcome) VALUES (?, ?, ?, ?, ?, 1, ?, ?, 'started')",
        )
        .run(this.#nowMs(), turnId, agent.id, caller, tool, price, `${fee}`);
      return Number(row.lastInsertRowid);
    });
    const end = this.#db.prepare(
      "UPDATE metering SET outcome = ?, price = ?, fee_wei = ? WHERE id = ? AND outcome = 'started'",
    );
    return {
      start: ({ id: tool, price, feeWei = 0n }) => {
        const row = start.immediate(tool, price, feeWei);
        return {
          end: ({ success, status, evidence }) => {
            const outcome = success ? "succeeded" : status === "pending" ? "pending" : "failed";
            // Whoever failed may have asked first: what it held stays spent.
            const fee = evidence?.feeWei ?? (outcome === "failed" ? `${feeWei}` : "0");
            end.run(outcome, success ? price : 0, fee, row);
          },
        };
      },
    };
  }

  /** Sum of a turn's prices. */
  priceOf(turnId: string): number {
    return this.#total("turn_id = ?", turnId).price;
  }

  rows(turnId: string): MeteringRow[] {
    return this.#db
      .prepare<[string], MeteringRow>("SELECT * FROM metering WHERE turn_id = ? ORDER BY id")
      .all(turnId);
  }

  #check({ turnId, agent, caller }: Spender, price: number, fee: bigint): void {
    const limits = this.#limits;
    const turn = this.#total("turn_id = ?", turnId);
    const day = this.#total("caller = ? AND at > ?", caller, this.#nowMs() - DAY_MS);
    if (turn.calls >= limits.maxCallsPerTurn)
      throw exceeded("CALLS_EXCEEDED", "calls of this turn", limits.maxCallsPerTurn);
    if (day.calls >= limits.maxCallsPerCallerPerDay)
      throw exceeded("CALLS_EXCEEDED", "calls of this caller today", limits.maxCallsPerCallerPerDay);
    if (turn.price + price > limits.maxPricePerTurn)
      throw exceeded("BUDGET_EXCEEDED", "price of this turn", limits.maxPricePerTurn);
    if (day.price + price > limits.maxPricePerCallerPerDay)
      throw exceeded("BUDGET_EXCEEDED", "price of this caller today", limits.maxPricePerCallerPerDay);
    if (fee > 0n && this.#feesSince(this.#nowMs() - DAY_MS) + fee > limits.maxFeesPerDay)
      throw exceeded("BUDGET_EXCEEDED", "fees on the chain today", formatAmount(limits.maxFeesPerDay));
    if (agent.budget === undefined) return;
    if (this.#total("agent_id = ?", agent.id).price + price > agent.budget)
      throw exceeded("BUDGET_EXCEEDED", "price of this agent", agent.budget);
  }

  /** SQLite's integers end at 9.2 ether in wei. */
  #feesSince(at: number): bigint {
    const rows = this.#db
      .prepare<[number], { fee_wei: string }>("SELECT fee_wei FROM metering WHERE at > ? AND fee_wei <> '0'")
      .all(at);
    return rows.reduce((sum, row) => sum + BigInt(row.fee_wei), 0n);
  }

  #total(where: string, ...values: (string | number)[]): Total {
    const sql = `SELECT count(*) AS calls, coalesce(sum(price), 0) AS price FROM metering WHERE ${where}`;
    return this.#db.prepare<(string | number)[], Total>(sql).get(...values) ?? { calls: 0, price: 0 };
  }
}

const exceeded = (code: string, what: string, limit: number | string) =>
  new BaseError({
    code,
    shortMessage: `The ${what} would pass the limit of ${limit}.`,
    nextStep: "The operator of the gateway sets the limits.",
    details: { limit },
  });
