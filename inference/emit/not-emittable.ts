/** Why a step has no ONNX form: import would not accept its weights. Not a fault of the model's owner's
 *  claim: the canonical executor still computes it. */
export class NotEmittable extends Error {
  override readonly name = "NotEmittable";
}
