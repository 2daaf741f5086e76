import { describe, expect, test } from "vitest";
import { CALLER_SETTINGS, callerLimits } from "../../cli/caller-limits.ts";
import { loadConfig } from "../../protocol/service/config.ts";

const read = (flags: Record<string, string>) => callerLimits(loadConfig(CALLER_SETTINGS, { flags, env: {} }));

describe("callerLimits", () => {
  test("default: a limit, and nobody's word about addresses", () => {
    expect(read({})).toEqual({
      requestsPerMinute: 6_000,
      trustProxy: undefined,
      connectionsPerCaller: 256,
    });
  });

  test.each<[string, string | number]>([
    ["1", 1],
    ["loopback", "loopback"],
    ["10.0.0.0/8, 2001:db8::/32,127.0.0.1", "10.0.0.0/8, 2001:db8::/32,127.0.0.1"],
  ])("args: trustProxy %s", (given, expected) => {
    expect(read({ trustProxy: given }).trustProxy).toBe(expected);
  });

  test.each(["true", "0", "all", "10.0.0.0/8/8", "10.0.0/8", "1.2.3.4/x", ""])(
    "error: trustProxy %j",
    (given) => {
      expect(() => read({ trustProxy: given })).toThrow("must be the number of proxies");
    },
  );
});
