import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventName, StoredEvent } from "../../../agent/gateway/events.ts";
import { TurnStream } from "../../../agent/gateway/turn-stream.ts";
import { encodeEvent } from "../../../protocol/service/http/event-stream.ts";

const names: EventName[] = ["error", "tool_call", "tool_result", "tool_error", "text", "done"];
const event = fc.record({
  id: fc.integer({ min: 1, max: 1e9 }),
  event: fc.constantFrom(...names),
  data: fc.oneof(fc.record({ text: fc.string({ unit: "binary" }) }), fc.jsonValue()),
});

/** @param cuts where the bytes are cut, as a network does */
function parse(text: string, cuts: readonly number[]) {
  const events: { id: number; event: string | undefined; data: unknown }[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => events.push({ id: Number(id), event, data: JSON.parse(data) }),
  });
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let at = 0;
  for (const end of ends) {
    parser.feed(decoder.decode(bytes.subarray(at, end), { stream: true }));
    at = end;
  }
  return events;
}

describe("encodeEvent", () => {
  it("behavior: what is encoded is parsed again, whatever it says and wherever it is cut", () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (events, cuts) => {
          const text = events.map((one) => encodeEvent(one as StoredEvent)).join(":\n\n");
          const plain = events.map((one) => ({
            ...one,
            data: JSON.parse(JSON.stringify(one.data)) as unknown,
          }));
          expect(parse(text, cuts)).toEqual(plain);
        },
      ),
    );
  });

  it("behavior: data that looks like a field begins none", () => {
    const text = "x\n\nevent: text\ndata: {}\r\rid: 9\u2028data: y\u0085";
    const encoded = encodeEvent({ id: 1, event: "text", data: { text } });
    expect(encoded.match(/\n/g)).toHaveLength(4);
    expect(parse(encoded, [])).toEqual([{ id: 1, event: "text", data: { text } }]);
  });
});

describe("TurnStream", () => {
  it("behavior: whenever readers come and go, each sees every event after its last one, once and in order", () => {
    const step = fc.oneof(
      fc.constant("send" as const),
      fc.constant("leave" as const),
      fc.constant("come" as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const stream = new TurnStream(1e6);
        const seen: number[] = [];
        const sink = { event: ({ id }: StoredEvent) => void seen.push(id), end: () => {} };
        let detach: (() => void) | undefined;
        let sent = 0;
        for (const one of steps) {
          if (one === "send") stream.send("text", { text: `${++sent}` });
          if (one === "leave") {
            detach?.();
            detach = undefined;
          }
          if (one === "come" && detach === undefined) detach = stream.attach(seen.length, sink);
        }
        detach?.();
        stream.end();
        stream.attach(seen.length, sink);
        expect(seen).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
      }),
    );
  });
});
