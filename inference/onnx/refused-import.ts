import { BaseError, isBaseError } from "../../base/errors.ts";

/** A node that cannot be lowered. */
export interface RefusedNode {
  readonly node: string;
  readonly op: string;
  readonly reason: string;
  readonly nextStep: string;
}

export interface RefusedParts {
  /** nodes of the graph */
  readonly total: number;
  readonly nodes: readonly RefusedNode[];
  /** what is wrong with inputs, outputs and proofs */
  readonly limits: readonly string[];
  /** nodes that were not looked at, because nobody knows what they read */
  readonly unseen: readonly string[];
}

/** IMPORT_REFUSED, with every node that cannot be lowered. */
export class RefusedImport extends BaseError {
  readonly parts: RefusedParts;

  static override [Symbol.hasInstance](value: unknown): boolean {
    return isBaseError(value, "IMPORT_REFUSED") && "parts" in value;
  }

  constructor(parts: RefusedParts) {
    const { total, nodes, limits, unseen } = parts;
    const lines = nodes.map((n) => `${n.node} (${n.op}): ${n.reason}. ${n.nextStep}`);
    const text = [...lines, ...limits, ...behind(unseen)].join("\n");
    super({
      code: "IMPORT_REFUSED",
      shortMessage: `${nodes.length} of ${total} nodes cannot be lowered to a program:\n${text}`,
      nextStep: "Change these nodes as each line says and import again.",
      details: { nodes: lines, limits: [...limits], unseen: [...unseen] },
    });
    this.parts = parts;
  }
}

const behind = (unseen: readonly string[]): string[] =>
  unseen.length === 0
    ? []
    : [
        `${unseen.length} more behind them (${unseen.slice(0, 5).join(", ")}${unseen.length > 5 ? ", …" : ""}) could not be looked at: the file does not say what they read. onnx.shape_inference.infer_shapes adds that.`,
      ];
