/** The explorer's JSON over HTTP. */
import type { ApiError } from "../../api/types.ts";

/** What an answer that is no success says, or that there was no answer. */
export class ApiFailure extends Error {
  readonly code: string;
  readonly nextStep: string;
  /** of HTTP; undefined where nothing answered */
  readonly status: number | undefined;

  constructor(code: string, message: string, nextStep: string, status?: number) {
    super(message);
    this.name = "ApiFailure";
    this.code = code;
    this.nextStep = nextStep;
    this.status = status;
  }
}

async function failureOf(response: Response): Promise<ApiFailure> {
  try {
    const { error } = (await response.json()) as ApiError;
    return new ApiFailure(error.code, error.message, error.nextStep, response.status);
  } catch {
    const message = `The explorer answered ${response.status} without saying why.`;
    return new ApiFailure("ANSWER_INVALID", message, "Look at the log of the explorer.", response.status);
  }
}

async function answered(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
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
