/** A fault that is put into a copy of the contracts. */
export interface Mutant {
  readonly name: string;
  /** the test that must fail */
  readonly caughtBy: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}
