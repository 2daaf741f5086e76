import { type Hex, keccak256, toHex } from "viem";
import { describe, expect, test } from "vitest";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { codeOf, logged, prover, serveForTests } from "../support/http-prover.ts";
import { documentOf, validatorOf } from "../support/openapi.ts";

serveForTests();

const id = keccak256("0x01") as ClaimId;
const hashOf = (number: bigint, fork: string): Hex => keccak256(toHex(`${number}${fork}`));

const eventAt = (name: string, number: bigint, fork = ""): ChainEvent =>
  ({
    name,
    args: { claimId: id, bond: 10n ** 20n },
    contract: "0x",
    block: { number, hash: hashOf(number, fork) },
    logIndex: 3,
    transactionHash: hashOf(number, "transaction"),
  }) as unknown as ChainEvent;

/** What the node has seen of the claim at a new head. */
function see(events: readonly ChainEvent[], number: bigint, fork = ""): void {
  prover.events.set(id, events);
  prover.head = { number, hash: hashOf(number, fork), timestamp: Number(number) };
}

interface ReceivedEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads events one by one. */
async function listen(after?: string) {
  const leaving = new AbortController();
  const response = await fetch(`${prover.server.url}/v1/claims/${id}/events`, {
    headers: after === undefined ? {} : { "last-event-id": after },
    signal: leaving.signal,
  });
  const reader = response.body?.getReader();
  let text = "";
  /** @returns undefined at the end */
  const next = async (): Promise<ReceivedEvent | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const event = field("event");
        if (event === undefined) continue;
        const eventId = field("id");
        const data = JSON.parse(field("data") ?? "") as Record<string, unknown>;
        return { event, data, ...(eventId === undefined ? {} : { id: eventId }) };
      }
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return undefined;
      text += Buffer.from(value as Uint8Array).toString();
    }
  };
  return { response, next, leave: () => leaving.abort() };
}

describe("GET /v1/claims/:id/events", () => {
  const claimed = eventAt("Claimed", 5n);
  const challenged = eventAt("Challenged", 6n);
  const fell = eventAt("Fell", 9n);

  test("default: the life so far, then each event as it comes, until the claim is over", async () => {
    see([claimed], 5n);
    const { response, next } = await listen();
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const first = await next();
    expect(first).toMatchObject({ event: "Claimed", data: { claimId: id, state: "ACTIVE", block: "5" } });
    expect(first?.data.transactionHash).toBe(claimed.transactionHash);
    expect(first?.data.args).toMatchObject({ bond: "100000000000000000000" });
    const validator = validatorOf(await documentOf(prover.server.url), {
      $ref: "#/components/schemas/ClaimEvent",
    });
    expect(validator.safeParse(first?.data).error?.issues).toBeUndefined();
    see([claimed, challenged], 6n);
    expect(await next()).toMatchObject({ event: "Challenged", data: { state: "ACTIVE" } });
    see([claimed, challenged, fell], 9n);
    expect(await next()).toMatchObject({ event: "Fell", data: { state: "FALLEN" } });
    expect(await next()).toBeUndefined();
  });

  test("behavior: Last-Event-ID goes on after it; who has seen the end is told not to come back", async () => {
    see([claimed, challenged, fell], 9n);
    const whole = await listen();
    const received = [await whole.next(), await whole.next(), await whole.next()];
    const rest = await listen(received[0]?.id);
    expect([await rest.next(), await rest.next(), await rest.next()]).toEqual([
      ...received.slice(1),
      undefined,
    ]);
    const over = await listen(received[2]?.id);
    expect(over.response.status).toBe(204);
  });

  test("behavior: a re-org is told, and the life as it is now is told again", async () => {
    see([claimed, challenged], 6n);
    const live = await listen();
    const seen = [await live.next(), await live.next()];
    const other = eventAt("Challenged", 6n, "fork");
    see([claimed, other], 7n, "fork");
    expect(await live.next()).toEqual({ event: "reorg", data: { claimId: id } });
    const again = [await live.next(), await live.next()];
    expect(again[0]).toEqual(seen[0]);
    expect(again[1]?.data.blockHash).toBe(other.block.hash);
    live.leave();
    // Who was away meanwhile hears the same.
    const back = await listen(seen[1]?.id);
    expect([await back.next(), await back.next()]).toEqual([
      { event: "reorg", data: { claimId: id } },
      again[0],
    ]);
    back.leave();
  });

  test("error: a node that gives no answer is logged once for a block, not once for each who listens", async () => {
    const ended = { ...claimed, args: { ...claimed.args, windowEnd: 5 } } as ChainEvent;
    see([ended], 5n);
    const open = await Promise.all(Array.from({ length: 8 }, () => listen()));
    for (const { next } of open) expect(await next()).toMatchObject({ event: "Claimed" });
    const lines = () => logged.filter(({ message }) => message.startsWith("whether a claim is final"));
    expect(lines()).toHaveLength(1);
    see([ended], 6n);
    await expect.poll(() => lines().length).toBe(2);
    for (const { leave } of open) leave();
  });

  test("error: an id that no event has, a claim that is no id", async () => {
    see([claimed], 5n);
    const url = `${prover.server.url}/v1/claims`;
    const ask = (header: string) => fetch(`${url}/${id}/events`, { headers: { "last-event-id": header } });
    expect(await codeOf(ask("5"))).toEqual([400, "LAST_EVENT_ID_INVALID"]);
    expect(await codeOf(fetch(`${url}/5/events`))).toEqual([400, "ID_INVALID"]);
  });

  test("error: one caller listens to so many, and to others again when it left some", async () => {
    see([claimed], 5n);
    const open = await Promise.all(Array.from({ length: 16 }, () => listen()));
    expect(open.map(({ response }) => response.status)).toEqual(open.map(() => 200));
    const refused = await listen();
    expect([refused.response.status, refused.response.headers.get("retry-after")]).toEqual([429, "1"]);
    for (const { leave } of open) leave();
    const status = async () => {
      const { response, leave } = await listen();
      leave();
      return response.status;
    };
    await expect.poll(status, { timeout: 240_000 }).toBe(200);
  });
});
