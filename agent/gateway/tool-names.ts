/** Names of tools: `server/api` where people choose, `call_<server>_<api>` where a model calls.
 *
 *  Slugs hold no `_`, so no two ids make one name; even so a name is only ever looked up, never taken apart. */
import { BaseError } from "../../base/errors.ts";

/** What the chat endpoints of language models accept. */
const MAX_NAME_LENGTH = 64;
const SLUG = /^[a-z0-9-]+$/;
const TOOL_ID = /^([a-z0-9-]+)\/([a-z0-9-]+)$/;
const CALL_NAME = /^call_[a-z0-9-]+_[a-z0-9-]+$/;

export interface ToolIdParts {
  readonly server: string;
  readonly api: string;
}

/** @throws BaseError TOOL_ID_INVALID */
export function parseToolId(id: string): ToolIdParts {
  const [, server, api] = TOOL_ID.exec(id) ?? [];
  if (server !== undefined && api !== undefined && callName({ server, api }).length <= MAX_NAME_LENGTH) {
    return { server, api };
  }
  throw new BaseError({
    code: "TOOL_ID_INVALID",
    shortMessage: `${JSON.stringify(id.slice(0, 80))} is no tool: it must be server/api, each of a-z, 0-9 and -, together at most ${MAX_NAME_LENGTH - "call__".length} characters.`,
    nextStep: "`assay gateway tools` lists the tools of each server.",
  });
}

/** The name under which a model calls a tool. @throws BaseError TOOL_ID_INVALID */
export const toolNameOf = (id: string): string => callName(parseToolId(id));

const callName = ({ server, api }: ToolIdParts): string => `call_${server}_${api}`;

export const isSlug = (text: string): boolean => SLUG.test(text);

/** A slug from a foreign name such as `getPrice_v2`: lower case, everything else a hyphen. May be empty. */
export const slugFrom = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");

/** The name that a model's call is looked up by, or undefined if it can be no tool's. Case is folded in ASCII alone:
 *  other letters, such as the Kelvin sign, would fold to these. */
export function canonicalName(asked: string): string | undefined {
  if (asked.length > MAX_NAME_LENGTH || !/^[A-Za-z0-9_-]+$/.test(asked)) return undefined;
  const name = asked.toLowerCase();
  return CALL_NAME.test(name) ? name : undefined;
}
