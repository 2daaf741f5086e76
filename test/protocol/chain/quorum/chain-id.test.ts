/** A chain's id, which viem asks for without parameters. */
import { createPublicClient } from "viem";
import { expect, test } from "vitest";
import { Quorum } from "../../../../protocol/chain/quorum/transport.ts";

test("behavior: one node that names another chain id is outvoted", async () => {
  const node = (name: string, id: string) => ({ name, request: async () => id });
  const nodes = [node("liar", "0x7"), node("honest 1", "0x1"), node("honest 2", "0x1")];
  const quorum = new Quorum(nodes, { timeoutMs: 1_000, graceMs: 100 });
  expect(await createPublicClient({ transport: quorum.transport }).getChainId()).toBe(1);
  expect(quorum.nodes.status().map(({ fault }) => fault)).toEqual(["contradicts", undefined, undefined]);
});
