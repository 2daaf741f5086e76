/** What the gateway needs of a tool, whatever is behind it. */
import type { Hex } from "viem";
import type { Reading } from "../../inference/meaning/read.ts";
import type { PresentedJson } from "../../protocol/rules/promises/presented.ts";

/** JSON Schema of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a model is told of a tool. */
export interface ToolDefinition {
  /** `call_<server>_<api>` */
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface CallContext {
  /** aborts when the client left, the turn ended or the time is over */
  readonly signal: AbortSignal;
  /** told what a call waits for, one sentence, whenever it has asked how far that is */
  readonly onWait?: (what: string) => void;
}

export interface Tool extends ToolDefinition {
  /** `server/api` */
  readonly id: string;
  /** in the operator's unit of account, charged for a call that succeeds */
  readonly price: number;
  /** most that one call may promise on the chain, wei */
  readonly feeWei?: bigint;
  /** @param args fit `parameters`
   *  @throws BaseError; anything else is a fault of the tool */
  run(args: Readonly<Record<string, unknown>>, context: CallContext): Promise<ToolOutcome>;
}

/** Where an output comes from on the chain. */
export interface Evidence {
  readonly modelId?: Hex;
  readonly inputHash?: Hex;
  readonly outputHash?: Hex;
  /** of a language model's answer: what its output is, of which the text in the data is derived */
  readonly ids?: readonly number[];
  readonly requestId?: Hex;
  readonly claimId?: Hex;
  /** EXECUTION, PROOF or BOND */
  readonly lane?: string;
  /** second from which on nothing could change it; absent where the chain ran the model in the call */
  readonly finalAt?: number;
  /** wei that this call promised on the chain */
  readonly feeWei?: string;
  /** of the signed claim below */
  readonly digest?: Hex;
  /** what stands behind an output that is signed: all that opening it takes */
  readonly signedClaim?: PresentedJson;
  /** last second in which that can be opened */
  readonly end?: number;
  /** of its claim if it were opened now */
  readonly bondWei?: string;
}

/** What a call came to. `final`: the output of a registered model is final on the chain. `signed`: a prover's stake
 *  stands behind it, and the tool takes that. `unverified`: what some server said. `pending`: asked or claimed and not final, so there is no data to hand on. */
export type ToolOutcome =
  | {
      readonly success: true;
      readonly status: "final" | "signed" | "unverified";
      readonly data: unknown;
      /** what the output of a model says, by its manifest */
      readonly meaning?: Reading;
      readonly evidence?: Evidence;
    }
  | {
      readonly success: false;
      readonly status: "pending" | "failed";
      /** one sentence of our own */
      readonly error: string;
      readonly code: string;
      readonly evidence?: Evidence;
    };

/** A named set of tools. An agent belongs to one. */
export interface ToolServer {
  readonly slug: string;
  readonly description: string;
  /** The tools that can be called now. @throws BaseError when the server cannot be reached */
  tools(): Promise<readonly Tool[]>;
  close(): Promise<void>;
}
