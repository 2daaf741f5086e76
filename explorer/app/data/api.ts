/** The explorer's JSON. */
import { ApiFailure, failureOf } from "./api-failure.ts";
import { source } from "./source.ts";

async function answered(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await source().ask(path, init);
  } catch {
    if (init.signal?.aborted === true) throw new DOMException("aborted", "AbortError");
    const nextStep = "See that `assay explorer` runs; this page tries again by itself.";
    throw new ApiFailure("NO_ANSWER", "The explorer does not answer.", nextStep);
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

/** @throws ApiFailure */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await answered(path, signal === undefined ? {} : { signal });
  return (await response.json()) as T;
}

/** @throws ApiFailure */
export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await answered(path, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as T;
}

/** @throws ApiFailure */
export async function getBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await answered(path, {})).arrayBuffer());
}

/** `?a=1&b=2` of what is defined; empty where nothing is. */
export function queryString(values: Readonly<Record<string, unknown>>): string {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(
    defined.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === "" ? "" : `?${text}`;
}
