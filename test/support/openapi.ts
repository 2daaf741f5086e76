/** Holds answers against the OpenAPI document that the same server gives. */
import { expect } from "vitest";
import { z } from "zod";

interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}
export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Answer>> }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export const documentOf = async (url: string) =>
  (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;

/** Objects are open to callers; here a member that the document does not name is a fault. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  return "properties" in parts && !("additionalProperties" in parts)
    ? { ...parts, additionalProperties: false }
    : parts;
}

/** A schema of the document as a validator. */
export function validatorOf({ components }: OpenApi, schema: object): z.ZodType {
  const text = JSON.stringify(closed({ ...schema, $defs: components.schemas }));
  return z.fromJSONSchema(JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")));
}

/** Checks status, media type and body of an answer. @param route such as `GET /v1/models/{id}` @returns the body */
export async function expectDocumented(
  document: OpenApi,
  route: string,
  response: Response,
): Promise<unknown> {
  const [method = "", path = ""] = route.split(" ");
  const answer = document.paths[path]?.[method.toLowerCase()]?.responses[response.status];
  if (answer === undefined) throw new Error(`${route} has no documented status ${response.status}`);
  const type = response.headers.get("content-type")?.split(";", 1)[0] ?? "";
  if (answer.content === undefined) return undefined;
  const documented = answer.content[type];
  if (documented === undefined) throw new Error(`${route} has no documented type ${type}`);
  if (type !== "application/json") return Buffer.from(await response.arrayBuffer());
  const body: unknown = await response.json();
  if (documented.schema === undefined) return body;
  const parsed = validatorOf(document, documented.schema).safeParse(body);
  expect([route, parsed.error?.issues]).toEqual([route, undefined]);
  return body;
}
