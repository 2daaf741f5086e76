/** PostgreSQL's programs, which tests start a server with. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const DEBIAN = "/usr/lib/postgresql";

/** Folder of the server's programs; undefined where there are none. */
export function postgresPrograms(): string | undefined {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
  const path = (process.env.PATH ?? "").split(":");
  return [...debian.reverse(), ...path].find((folder) => existsSync(join(folder, "initdb")));
}
