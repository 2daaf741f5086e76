/** Settings of an import that name a part of the file, as a person writes them: NAME=VALUE. */

export const DIM_FORM = "NAME=N with N at least 1";
export const INPUT_TYPE_FORM = "NAME=TYPE with TYPE int32, uint8 or int8";

/** @returns undefined for a text of another form */
export function readDim(text: string): readonly [name: string, size: number] | undefined {
  const match = /^(.+)=([1-9][0-9]*)$/.exec(text);
  return match === null ? undefined : [match[1] as string, Number(match[2])];
}

/** @returns undefined for a text of another form */
export function readInputType(text: string): readonly [name: string, type: string] | undefined {
  const match = /^(.+)=(int32|uint8|int8)$/.exec(text);
  return match === null ? undefined : [match[1] as string, match[2] as string];
}

/** How a product of two computed byte tensors is lowered: pairs of elements, DOT activations, or by its size. */
export const PRODUCT_FORMS = ["auto", "pairs", "dot"] as const;
export type ProductForm = (typeof PRODUCT_FORMS)[number];

/** How Softmax, LayerNormalization, RMSNormalization and sums of quantized tensors are computed: partly in float32, or in
 *  integers alone, whose roots and quotients no interpreter runs. */
export const ARITHMETIC_FORMS = ["float32", "integers"] as const;
export type ArithmeticForm = (typeof ARITHMETIC_FORMS)[number];
