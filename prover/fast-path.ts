import type { ModelId } from "../protocol/rules/types.ts";

/** Return data, or why there is none. */
type EngineResult = { readonly output: Uint8Array } | { readonly failure: string };

/** What computes outputs fast. It may be wrong or fail: no bond hangs on its word alone. */
export interface FastPath {
  /** @param signal aborts when nobody waits any more
   *  @throws BaseError as `decodeInput`, for calldata that no request can hold */
  run(model: ModelId, calldata: Uint8Array, signal?: AbortSignal): Promise<EngineResult>;
}
