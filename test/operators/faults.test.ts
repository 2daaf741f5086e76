import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { FAULTS, parseFault } from "../../cli/demo/dishonest/faults.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import type { EventName } from "../../protocol/chain/events.ts";
import { readHeader } from "../../protocol/rules/receipt/header.ts";
import { parseRecord, verifyRecord } from "../../protocol/rules/receipt/record.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** One of each kind; steps of models/sentiment: 0 is its codec step, 1 has padded rows, 12 is its last layer. */
const LIES = [
  "element:12",
  "codec:0",
  "input:0",
  "output",
  "padding:1",
  "stall",
  "stall-reveal",
  "garbage-reveal",
] as const;

/** Room for ten processes on any machine to answer in time; for those who do not answer the test lets it pass. */
const ANSWER_SECONDS = 120;

let system: System;
let urls: readonly string[];
const folder = temporaryFolder();
const deployment = join(folder.path, "deployment.json");

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  writeDeployment(deployment, system.chain.deployment);
  const provers = LIES.map((lie, i) => system.cheat(lie.replace(":", "-"), ROLES.cheat + i, lie));
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
  const ready = provers.map((daemon) => daemon.logged("prover is up"));
  urls = (await Promise.all(ready)).map((line) => String(line.url));
  await challenger.logged("challenger is up");
});

afterAll(async () => {
  folder.remove();
  await system.stop();
});

type Lie = (typeof LIES)[number];
const endOf = (lie: Lie) => FAULTS[parseFault(lie).kind].fall;
const isSilent = (lie: Lie): boolean => endOf(lie).endsWith("TIMEOUT");

async function ask(lie: Lie, index: number) {
  const model = system.model("sentiment");
  const calldata = selfTestCalldata(model.model.program, model.selector, 2 * index);
  const prover = systemAccount(ROLES.cheat + index).address;
  const { requestId } = await system.ask({ model, calldata, prover });
  const { claimId } = await system.events.until("Claimed", (event) => event.requestId === requestId);
  return { lie, requestId, claimId };
}
type Filed = Awaited<ReturnType<typeof ask>>;

/** Lets the time pass for those who owe an answer that never comes, each time that all of them do. */
async function outwait(silent: readonly Filed[]): Promise<void> {
  const count = (name: EventName, { claimId }: Filed): number =>
    system.events.all(name, (args) => "claimId" in args && args.claimId === claimId).length;
  const owes = (filed: Filed): boolean => {
    if (filed.lie === "stall") return count("Challenged", filed) > 0;
    return count("Demanded", filed) > count("Revealed", filed);
  };
  const fell = (filed: Filed): boolean => count("Fell", filed) > 0;
  const state = () =>
    silent.map((filed) => `${filed.lie} ${fell(filed) ? "fell" : owes(filed) ? "owes" : ""}`);
  while (!silent.every(fell)) {
    await system.events.when(
      () => silent.every((filed) => owes(filed) || fell(filed)) || undefined,
      () => `Not all owe an answer: ${state()}`,
    );
    const late = silent.filter((filed) => !fell(filed));
    await system.passTime(ANSWER_SECONDS + 1);
    await system.events.when(
      () => late.every((filed) => fell(filed) || !owes(filed)) || undefined,
      () => `Nobody ended what is late: ${state()}`,
    );
  }
}

async function fate({ lie, requestId, claimId }: Filed) {
  const { events } = system;
  const fell = await events.until("Fell", (fall) => fall.claimId === claimId);
  const collected = await events.until("Collected", (event) => event.claimId === claimId);
  const claims = events.all("Claimed", (event) => event.requestId === requestId);
  return { lie, reason: FALL_REASONS[fell.reason], collectedBy: collected.owner, claims: claims.length };
}

/** What the record says that the convicted prover itself gives, to somebody who knows the hash of its block. */
async function recorded({ requestId, claimId }: Filed, index: number) {
  const text = await vi.waitFor(
    async () => {
      const answer = await fetch(`${urls[index]}/v1/requests/${requestId}/record?claim=${claimId}`);
      const body = await answer.text();
      // A prover whose node is slow, or that is some blocks behind, asks to come again.
      expect([answer.status, body]).toEqual([200, body]);
      return body;
    },
    { timeout: 120_000, interval: 200 },
  );
  const record = parseRecord(text);
  const { number } = readHeader(record.header);
  const { hash: blockHash } = await system.client.getBlock({ blockNumber: number });
  const { game, constants } = system.chain;
  const verdict = verifyRecord(record, { ...game, ...constants, blockHash }, { requestId, claimId });
  if (!verdict.valid) throw verdict.error;
  const { end, fall } = verdict;
  const path = join(folder.path, `${claimId}.json`);
  writeFileSync(path, text);
  const args = ["claim", "check", path, "--deployment", deployment, "--block", blockHash, "--claim", claimId];
  const { code, stdout } = await runInProcess([...args, "--model", "sentiment", "--json"], {});
  const { model, selector } = system.model("sentiment");
  const rightOutput = toHex(execute(prepare(model, selector), fromHex(record.input)));
  expect([code, JSON.parse(stdout)]).toMatchObject([4, { end, fall, isRight: false, rightOutput }]);
  const other = await runInProcess([...args, "--model", "forecast-vix", "--json"], {});
  expect([other.code, JSON.parse(other.stderr).error.code]).toEqual([1, "RECORD_OTHER_MODEL"]);
  return { end, fall, event: record.unproven.ended?.event };
}

describe("dishonest provers as processes", () => {
  it("behavior: every kind of fault ends as it states, and the challenger is paid", async () => {
    expect([...new Set(LIES.map((lie) => parseFault(lie).kind))].sort()).toEqual(Object.keys(FAULTS).sort());
    const filed = await Promise.all(LIES.map((lie, i) => ask(lie, i)));
    await Promise.all(filed.filter(({ lie }) => !isSilent(lie)).map(fate));
    await outwait(filed.filter(({ lie }) => isSilent(lie)));
    const fates = await Promise.all(filed.map(fate));
    const collectedBy = systemAccount(ROLES.challenger).address;
    expect(fates).toEqual(LIES.map((lie) => ({ lie, reason: endOf(lie), collectedBy, claims: 1 })));
    expect(system.events.all("Finalized")).toEqual([]);
    // One after the other: each runs a command, whose output is that of this process.
    for (const [index, one] of filed.entries())
      expect(await recorded(one, index)).toEqual({ end: "FALLEN", fall: endOf(one.lie), event: "Fell" });
  });
});
