/** What the page reads of the gateway's interface (docs/GATEWAY.md). */

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly availableTools: readonly string[];
}

export interface StartedTurn {
  readonly turnId: string;
  readonly conversationId: string;
}

export interface ToolResult {
  readonly callId: string;
  readonly success: boolean;
  readonly status: "final" | "signed" | "unverified" | "pending" | "failed";
  readonly data?: unknown;
  readonly meaning?: { readonly text: string };
  readonly error?: string;
  readonly claimId?: string;
  readonly requestId?: string;
  /** of the signed claim behind an output that is signed */
  readonly digest?: string;
}

/** Data of a turn's server-sent events, by name. */
export interface TurnEvents {
  readonly tool_call: { readonly callId: string; readonly toolName: string };
  readonly tool_result: ToolResult;
  readonly tool_error: { readonly toolName: string; readonly error: string };
  readonly text: { readonly text: string };
  readonly done: { readonly outcome: string };
}

export interface RequestView {
  readonly state: string;
  readonly final: boolean;
  readonly expired: boolean;
  readonly claimId?: string;
}
export interface ClaimView {
  readonly state: string;
  readonly final: boolean;
}

interface AskOptions {
  /** empty: none */
  readonly token: string;
  readonly method?: "POST" | "DELETE";
  readonly body?: unknown;
}

/** @throws Error with what the gateway says */
export async function ask<T>(
  path: string,
  { token, method = "GET" as "POST", body }: AskOptions,
): Promise<T> {
  const headers = {
    ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status === 204) return {} as T;
  const answer = (await response.json()) as T & { readonly error?: { readonly message?: string } };
  if (!response.ok) throw new Error(answer.error?.message ?? `The gateway answered ${response.status}.`);
  return answer;
}
