/** Attributes of the tree operators. */

import { numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";

const AGAIN = "Export the model again.";

/** A list of numbers, from an attribute of numbers or of a tensor; absent: []. */
export function numbersOf(node: OnnxNode, name: string): readonly number[] {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return [];
  if (attribute.kind === "ints" || attribute.kind === "floats") return attribute.value;
  if (attribute.kind === "tensor") return numbers(attribute.value);
  return refuse(`its attribute ${name} is of kind ${attribute.kind}`, AGAIN);
}

export function stringsOf(node: OnnxNode, name: string): readonly string[] {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return [];
  if (attribute.kind === "strings") return attribute.value;
  return refuse(`its attribute ${name} is of kind ${attribute.kind}`, AGAIN);
}

/** Refuses lists that must have one entry for each node, or leaf, and have not. */
export function sameLength(lists: Readonly<Record<string, { readonly length: number }>>): number {
  const [[first, { length }], ...others] = Object.entries(lists) as [
    [string, { length: number }],
    ...[string, { length: number }][],
  ];
  for (const [name, list] of others) {
    if (list.length !== length) {
      refuse(`${name} has ${list.length} entries, ${first} has ${length}`, AGAIN);
    }
  }
  return length;
}

/** Features are counted from 0 and are columns of the input. */
export function featureOf(index: number, features: number): number {
  if (Number.isInteger(index) && index >= 0 && index < features) return index;
  return refuse(
    `a node reads feature ${index}, the input has 0 to ${features - 1}`,
    "Where the file leaves the number of features open, give it: --dim INPUT:1=N, or the dim's name.",
  );
}
