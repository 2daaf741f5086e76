/** Errors of JSON-RPC. */
import type { Hex } from "viem";
import { toHex } from "../../../base/bytes.ts";
import type { CallResult } from "../dev-chain.ts";

export class RpcFault extends Error {
  readonly code: number;
  readonly data: Hex | undefined;

  private constructor(code: number, message: string, data?: Hex) {
    super(message);
    this.code = code;
    this.data = data;
  }

  static params = (why: string): RpcFault => new RpcFault(-32_602, why);
  static method = (name: string): RpcFault =>
    new RpcFault(-32_601, `this chain has no method ${name.slice(0, 60)}`);
  static request = (why: string): RpcFault => new RpcFault(-32_600, why);
  static refused = (why: string): RpcFault => new RpcFault(-32_000, why);
  /** As geth says it, so that clients find the error's data. */
  static reverted({ data, error }: CallResult): RpcFault {
    if (error !== "revert") return new RpcFault(-32_000, error ?? "execution failed");
    return new RpcFault(3, "execution reverted", toHex(data));
  }
}
