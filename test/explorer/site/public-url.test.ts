import { describe, expect, it } from "vitest";
import { publicityWarnings } from "../../../explorer/site/public-url.ts";

describe("publicityWarnings", () => {
  it.each([
    "https://node.example",
    "https://node.example/rpc/v1",
    "https://rpc.chain.example:8443/ethereum-mainnet",
    "https://node.example/?network=mainnet",
    "https://a-very-long-name-of-a-public-node.example/a-very-long-path-without-digits",
  ])("default: nothing about %s", (url) => expect(publicityWarnings(url)).toEqual([]));

  it.each([
    "https://eth.example/v2/abc0DEF1ghi2JKL3mno4PQR5stu6VWX7",
    "https://mainnet.example/v3/0123456789abcdef0123456789abcdef",
    "https://node.example/?apikey=x",
    "https://node.example/?ApiKey=1",
    "https://node.example/?access_token=me",
    "https://node.example/?id=0123456789abcdef0123",
  ])("behavior: a key is seen in %s, and not repeated", (url) => {
    const [warning = "", ...others] = publicityWarnings(url);
    expect(others).toEqual([]);
    expect(warning).toMatch(/^The URL of the node at \S+\.example holds what looks like a key/);
    expect(warning).not.toContain("0123456789");
  });

  it.each([
    "http://127.0.0.1:8545",
    "http://localhost:8545",
    "https://10.1.2.3",
    "http://172.20.0.1",
    "http://192.168.1.7",
    "http://[::1]:8545",
    "http://node.local",
  ])("behavior: %s is near", (url) =>
    expect(publicityWarnings(url)).toEqual([expect.stringContaining("its own machine or network alone")]),
  );

  it("behavior: plain http of a distant node is no use to pages of https", () =>
    expect(publicityWarnings("http://node.example")).toEqual([expect.stringContaining("asked by http")]));

  it("error: a name and a password, which no browser sends", () =>
    expect(() => publicityWarnings("https://me:secret@node.example")).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: The URL of the node at node.example holds a name or a password, which no browser sends from a page. Name a node that answers everybody with --rpc-url.]`,
    ));
});
