/** The audit at the end of a run: whatever was played, the money and the final outputs are in order. */
import { expect } from "vitest";
import { type AuditReport, auditChain } from "../../protocol/chain/audit/read.ts";
import type { Chain } from "../../protocol/chain/connect.ts";

/** @returns what was audited, for tests that want to know that much happened */
export async function expectInOrder(chain: Chain): Promise<AuditReport> {
  const report = await auditChain(chain, { pageBlocks: 50 });
  expect(report.breach, "the event that breaks a rule").toBeUndefined();
  for (const balance of [
    report.balance,
    ...(report.promises === undefined ? [] : [report.promisesBalance]),
  ]) {
    const { held, booked } = balance ?? { held: 0n, booked: -1n };
    expect(held, "what the contract holds, by its books").toBe(booked);
  }
  return report;
}
