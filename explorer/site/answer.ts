/** The JSON interface without HTTP: the same routes, and the same text. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { jsonOf } from "../../base/json.ts";
import { renderReceipt } from "../../protocol/rules/receipt/receipt.ts";
import { renderRecord } from "../../protocol/rules/receipt/record.ts";
import { describeError, pathInvalid, statusOf } from "../../protocol/service/http/error-answer.ts";
import { inferBody } from "../api/schemas/models.ts";
import { idPath, noQuery, recordQuery } from "../api/schemas/queries.ts";
import { parsed } from "../http/parsed.ts";
import { ROUTES } from "../http/routes.ts";
import { healthOf } from "../read/health.ts";
import { inferenceOf, readInput } from "../read/infer.ts";
import type { AnswerParts } from "../read/parts.ts";
import { receiptOf, recordOf } from "../read/proofs.ts";
import type { Answer, Question } from "./forms.ts";

interface Given {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** of a POST */
  readonly body: string;
}

interface Rule {
  readonly method: Question["method"];
  readonly pattern: readonly string[];
  readonly answer: (parts: AnswerParts, given: Given) => Promise<Answer>;
}

const rule = (
  method: Question["method"],
  path: string,
  text: (parts: AnswerParts, given: Given) => Promise<string> | string,
): Rule => ({
  method,
  pattern: path.split("/"),
  answer: async (parts, given) => ({ status: 200, body: await text(parts, given) }),
});
const idIn = ({ path }: Given): Hex => parsed(idPath, path, "path").id as Hex;

const RULES: readonly Rule[] = [
  ...ROUTES.map(({ path, parameters, query, read }) =>
    rule("GET", path, async (parts, given) =>
      jsonOf(await read(parts, parsed(parameters, given.path, "path"), parsed(query, given.query, "query"))),
    ),
  ),
  {
    method: "GET",
    pattern: ["", "healthz"],
    answer: async (parts) => {
      const health = healthOf(parts);
      return { status: health.status === "ok" ? 200 : 503, body: jsonOf(health) };
    },
  },
  rule("GET", "/v1/requests/{id}/receipt", async (parts, given) =>
    renderReceipt(await receiptOf(parts, idIn(given))),
  ),
  rule("GET", "/v1/requests/{id}/record", async (parts, given) => {
    const { claim } = parsed(recordQuery, given.query, "query");
    return renderRecord(await recordOf(parts, idIn(given), claim as Hex | undefined));
  }),
  rule("POST", "/v1/models/{id}/infer", async (parts, given) => {
    const id = idIn(given);
    parsed(noQuery, given.query, "query");
    const { input } = await readInput(parts, id, inferBody, () => new TextEncoder().encode(given.body));
    return jsonOf(await inferenceOf(parts, id, input));
  }),
];

/** Answers as the server does, apart from its limits and the ids of its requests. Never throws. */
export async function answer(parts: AnswerParts, { method, path, body = "" }: Question): Promise<Answer> {
  try {
    const [place = "", search] = path.split("?", 2);
    const pieces = place.split("/");
    for (const { method: own, pattern, answer } of RULES) {
      if (own !== method) continue;
      const found = matched(pattern, pieces);
      if (found !== undefined) return await answer(parts, { path: found, query: queryOf(search), body });
    }
    throw new BaseError({
      code: "ROUTE_UNKNOWN",
      shortMessage: `There is no ${method} ${place.slice(0, 120)}.`,
      nextStep: "docs/EXPLORER.md names what there is.",
    });
  } catch (error) {
    return failed(error);
  }
}

export function failed(error: unknown): Answer {
  const status = statusOf(error);
  return { status, body: jsonOf({ error: describeError(error, status) }) };
}

/** @returns the values of {name}; undefined for another path @throws BaseError PATH_INVALID */
function matched(pattern: readonly string[], pieces: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== pieces.length) return undefined;
  const values: Record<string, string> = {};
  for (const [i, expected] of pattern.entries()) {
    const piece = pieces[i] as string;
    const name = /^\{(\w+)\}$/.exec(expected)?.[1];
    if (name !== undefined) values[name] = decoded(piece);
    else if (piece !== expected) return undefined;
  }
  return values;
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch (cause) {
    throw pathInvalid(cause as URIError);
  }
}

/** A name that comes again has a list of values, as on the server. */
function queryOf(search: string | undefined): Given["query"] {
  const values: Record<string, string | readonly string[]> = {};
  const given = new URLSearchParams(search);
  for (const name of new Set(given.keys())) {
    const all = given.getAll(name);
    values[name] = all.length === 1 ? (all[0] as string) : all;
  }
  return values;
}
