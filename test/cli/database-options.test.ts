import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { withSettings } from "../../cli/chain.ts";
import { configuredDatabase } from "../../cli/database-options.ts";
import { DATABASE_SETTINGS } from "../../protocol/service/config.ts";
import { toPostgres } from "../../protocol/service/postgres/schema.ts";
import { requireVersion } from "../../protocol/service/postgres/session.ts";
import { temporaryFolder } from "../support/deploy.ts";

const PASSWORD = "s3cret";
const URL_WITH = `postgres://assay:${PASSWORD}@db.example/assay`;
const URL_WITHOUT = "postgres://assay@db.example:6543/assay";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder.remove();
});

function configured(args: readonly string[], env: Record<string, string> = {}) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const command = withSettings(new Command().exitOverride().option("--config <file>"), DATABASE_SETTINGS);
  return configuredDatabase(command.parse(args, { from: "user" }));
}

function written(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

function faultOf(work: () => unknown): { readonly code: string } & Error {
  try {
    work();
  } catch (error) {
    return error as { readonly code: string } & Error;
  }
  throw new Error("nothing was thrown");
}

describe("configuredDatabase", () => {
  test("default: none", () => {
    expect(configured([])).toBeUndefined();
  });

  test("behavior: the name that people see has no user and no password", () => {
    expect(configured([], { ASSAY_DATABASE: URL_WITH })).toEqual({
      url: URL_WITH,
      name: "db.example:5432/assay",
    });
  });

  test("behavior: the password is the file's first line", () => {
    const file = written("password", "p@ss/word\nsecond line\n");
    const terms = configured(["--database", URL_WITHOUT, "--database-password-file", file]);
    expect(decodeURIComponent(new URL(terms?.url ?? "").password)).toBe("p@ss/word");
    expect(terms?.name).toBe("db.example:6543/assay");
  });

  test.each([
    ["in arguments", () => configured(["--database", URL_WITH])],
    ["in arguments, as a parameter", () => configured(["--database", `${URL_WITHOUT}?password=${PASSWORD}`])],
    [
      "in the file",
      () => configured(["--config", written("assay.json", JSON.stringify({ database: URL_WITH }))]),
    ],
  ])("error: a password %s, which no message shows", (_, work) => {
    const fault = faultOf(work);
    expect(fault.code).toBe("CONFIG_INVALID");
    expect(JSON.stringify([fault, fault.message, fault.stack])).not.toContain(PASSWORD);
  });

  test.each([
    ["of another kind", `mysql://u:${PASSWORD}@db/x`],
    ["that is no URL", `postgres://u:${PASSWORD}@:99999999/x`],
    ["without a database", `postgres://u:${PASSWORD}@db.example`],
  ])("error: a URL %s, which no message shows", (_, url) => {
    const fault = faultOf(() => configured([], { ASSAY_DATABASE: url }));
    expect(fault.code).toBe("DATABASE_URL_INVALID");
    expect(JSON.stringify([fault, fault.message, fault.stack])).not.toContain(PASSWORD);
  });

  test("error: a file that is not there", () => {
    const fault = faultOf(() => configured(["--database", URL_WITHOUT, "--database-password-file", "none"]));
    expect(fault.code).toBe("DATABASE_PASSWORD_UNREADABLE");
  });
});

describe("requireVersion", () => {
  test("default: 14 and later", () => {
    requireVersion(140_000, "db");
    requireVersion(180_001, "db");
  });

  test("error: an older one is refused by name", () => {
    expect(() => requireVersion(130_022, "db.example:5432/assay")).toThrow(
      expect.objectContaining({
        code: "DATABASE_TOO_OLD",
        shortMessage: "PostgreSQL at db.example:5432/assay is version 13; 14 or later is needed.",
      }),
    );
  });
});

describe("toPostgres", () => {
  test("default: types and what stands behind a table are PostgreSQL's", () => {
    const sql = "CREATE TABLE a (x INTEGER, y BLOB) STRICT, WITHOUT ROWID;\nCREATE TABLE b (z TEXT) STRICT;";
    expect(toPostgres(sql)).toBe("CREATE TABLE a (x BIGINT, y BYTEA);\nCREATE TABLE b (z TEXT);");
  });
});
