/** A plain HTTP endpoint as a tool. What it says is unverified. */
import { BaseError } from "../../../base/errors.ts";
import { type EgressPolicy, guardedFetch, originOf } from "../../egress/guarded-fetch.ts";
import type { JsonSchema, Tool } from "../tool.ts";
import { toolNameOf } from "../tool-names.ts";

export interface HttpToolConfig {
  readonly description: string;
  /** `https://api.example.org/prices/{symbol}`; a parameter in braces fills a part of the path, the others go into
   *  the query, or into a JSON body for POST */
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly parameters: JsonSchema;
  /** secrets come from the operator's environment */
  readonly headers: Readonly<Record<string, string>>;
  readonly price: number;
}

export type HttpLimits = Omit<EgressPolicy, "origins">;

/** @throws BaseError TOOL_ID_INVALID, EGRESS_ORIGIN_REFUSED, TOOL_INVALID */
export function httpTool(id: string, config: HttpToolConfig, limits: HttpLimits): Tool {
  const { description, url, method, parameters, headers, price } = config;
  const [base = "", ...more] = url.split("?");
  const origin = originOf(base.replaceAll(/[{}]/g, ""));
  if (more.length > 0 || base.includes("#") || !/^https?:\/\/[^{}]+(\/|$)/.test(base)) {
    throw invalid(id, "its address has a query, a fragment or a parameter in its host");
  }
  const send = guardedFetch({ ...limits, origins: [origin] });
  return {
    id,
    name: toolNameOf(id),
    description,
    parameters,
    price,
    run: async (args, { signal }) => {
      const { target, rest } = fill(base, args);
      const isGet = method === "GET";
      if (isGet) for (const [name, value] of rest) target.searchParams.set(name, textOf(value));
      const response = await send(target, {
        method,
        signal,
        headers: isGet ? headers : { ...headers, "content-type": "application/json" },
        ...(isGet ? {} : { body: JSON.stringify(Object.fromEntries(rest)) }),
      });
      const text = await response.text();
      if (!response.ok) {
        return {
          success: false,
          status: "failed",
          code: "HTTP_STATUS",
          error: `The endpoint answered ${response.status}.`,
        };
      }
      return {
        success: true,
        status: "unverified",
        data: dataOf(text, response.headers.get("content-type")),
      };
    },
  };
}

function fill(base: string, args: Readonly<Record<string, unknown>>) {
  const used = new Set<string>();
  const path = base.replace(/\{([^{}]*)\}/g, (_whole, name: string) => {
    used.add(name);
    const part = textOf(args[name]);
    // An encoded dot is a dot again for who reads the path: `..` would leave the folder.
    if (part === "" || /^\.+$/.test(part)) throw invalid(base, `the parameter ${name} is no part of a path`);
    return encodeURIComponent(part);
  });
  return { target: new URL(path), rest: Object.entries(args).filter(([name]) => !used.has(name)) };
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

function dataOf(text: string, type: string | null): unknown {
  if (!/^application\/(\w+\+)?json\b/.test(type ?? "")) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new BaseError({
      code: "HTTP_NOT_JSON",
      shortMessage: "The endpoint sent JSON that cannot be read.",
      cause,
    });
  }
}

const invalid = (what: string, why: string) =>
  new BaseError({ code: "TOOL_INVALID", shortMessage: `The call of ${what} is refused: ${why}.` });
