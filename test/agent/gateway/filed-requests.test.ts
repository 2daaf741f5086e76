import { describe, expect, test } from "vitest";
import { type Filed, FiledRequests } from "../../../agent/gateway/tools/filed-requests.ts";
import type { Request, RequestId } from "../../../protocol/rules/types.ts";
import { hashOf } from "../../support/batches.ts";

const filed = (id: number, input: number): Filed => ({
  requestId: hashOf(id) as RequestId,
  request: { inputHash: hashOf(input) } as Request,
});
const idsOn = (requests: FiledRequests, input: number) =>
  requests.on(hashOf(input)).map(({ requestId }) => requestId);

describe("FiledRequests", () => {
  test("default: the requests on an input, the newest first, each once", () => {
    const requests = new FiledRequests({ perInput: 4, total: 10 });
    for (const [id, input] of [
      [1, 7],
      [2, 8],
      [3, 7],
      [1, 7],
    ] as const)
      requests.add(filed(id, input));
    expect(idsOn(requests, 7)).toEqual([hashOf(3), hashOf(1)]);
    expect(idsOn(requests, 8)).toEqual([hashOf(2)]);
    expect(idsOn(requests, 9)).toEqual([]);
    expect(requests.size).toBe(3);
  });

  test("behavior: of one input the newest are kept, and others lose nothing by it", () => {
    const requests = new FiledRequests({ perInput: 3, total: 10 });
    requests.add(filed(1, 8));
    for (let id = 2; id <= 100; id++) requests.add(filed(id, 7));
    expect(idsOn(requests, 7)).toEqual([hashOf(100), hashOf(99), hashOf(98)]);
    expect(idsOn(requests, 8)).toEqual([hashOf(1)]);
    expect(requests.size).toBe(4);
  });

  test("behavior: whatever is filed, no more than the limit is held, and the newest of it", () => {
    const requests = new FiledRequests({ perInput: 2, total: 50 });
    let most = 0;
    for (let id = 1; id <= 5_000; id++) {
      requests.add(filed(id, 1_000_000 + id));
      // As a look does that reads the last blocks again.
      if (id % 10 === 0)
        for (let back = 0; back < 10; back++) requests.add(filed(id - back, 1_000_000 + id - back));
      most = Math.max(most, requests.size);
    }
    expect(most).toBe(50);
    const held = Array.from({ length: 5_000 }, (_, i) => i + 1).filter(
      (id) => idsOn(requests, 1_000_000 + id).length > 0,
    );
    expect(held).toEqual(Array.from({ length: 50 }, (_, i) => 4_951 + i));
  });
});
