/** Why a step has no ONNX form: its weights are none that import would accept. Not a fault of the model's owner's
 *  claim: the canonical executor still computes it. */
export class NotEmittable extends Error {
  override readonly name = "NotEmittable";
}
