/** Names and ranges of the numbers of an input tensor, for those who call the model: the codec int16s packs them into
 *  words, which nobody writes manually. What is computed does not depend on them. */
import { identifierFault } from "./abi.ts";
import { type Checker, quoted } from "./problems.ts";

export const INT16 = { least: -32_768, most: 32_767 } as const;

export interface NumberEntry {
  readonly name: string;
  readonly description?: string;
  /** absent: what 16 bits hold */
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What a caller knows of a tensor of 16-bit numbers. */
export interface NumberTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** of its first number, among all that the codec packs */
  readonly offset: number;
  /** one for each number, in order; absent: the tensor is an array */
  readonly numbers?: readonly NumberEntry[];
}

export const sizeOf = ({ dims }: Pick<NumberTensor, "dims">): number => dims.reduce((size, d) => size * d, 1);

/** Checks the inputs' numbers, where they have any; the rest of an input is checked elsewhere.
 *  @param codec of the input @param path of the list */
export function checkNumbers(check: Checker, inputs: unknown, codec: unknown, path: string): void {
  if (!Array.isArray(inputs)) return;
  const taken = new Set<unknown>(
    inputs.filter((input) => input?.numbers === undefined).map((input) => input?.name),
  );
  inputs.forEach((input, i) => {
    if (input?.numbers === undefined) return;
    const at = `${path}[${i}].numbers`;
    if (codec !== "int16s")
      check.error(at, `only numbers of the codec int16s have names, not of ${quoted(codec)}`);
    const entries = check.array(input.numbers, at) ?? [];
    const size = Array.isArray(input.dims) ? sizeOf(input) : Number.NaN;
    if (entries.length !== size)
      check.error(at, `must name each of the tensor's ${size} numbers, names ${entries.length}`);
    entries.forEach((entry, j) => {
      checkNumber(check, entry, `${at}[${j}]`, taken);
    });
  });
}

function checkNumber(check: Checker, value: unknown, at: string, taken: Set<unknown>): void {
  const entry = check.object(value, at);
  if (entry === undefined) return;
  const name = check.text(entry.name, `${at}.name`);
  const fault = name === undefined ? undefined : identifierFault(name);
  if (fault !== undefined) check.error(`${at}.name`, fault);
  if (taken.has(name)) check.error(`${at}.name`, `${quoted(name)} is the name of another`);
  taken.add(name);
  if (entry.description !== undefined) check.text(entry.description, `${at}.description`);
  const { minimum = INT16.least, maximum = INT16.most } = entry;
  const isRange =
    Number.isInteger(minimum) &&
    Number.isInteger(maximum) &&
    INT16.least <= (minimum as number) &&
    (minimum as number) <= (maximum as number) &&
    (maximum as number) <= INT16.most;
  if (!isRange)
    check.error(
      at,
      `minimum to maximum must be a range within ${INT16.least} to ${INT16.most}, is ${quoted(minimum)} to ${quoted(maximum)}`,
    );
}
