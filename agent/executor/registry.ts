/** Things by key, where a key that is not there is an error and never a default. */
import { BaseError } from "../../base/errors.ts";
import { quote } from "./tool.ts";

export class Registry<Value> {
  readonly #kind: string;
  readonly #held = new Map<string, Value>();

  /** @param kind what is held, for messages: "model" */
  constructor(kind: string) {
    this.#kind = kind;
  }

  /** @throws BaseError …_TAKEN */
  register(id: string, value: Value): this {
    if (this.#held.has(id)) {
      throw new BaseError({
        code: `${this.#kind.toUpperCase()}_TAKEN`,
        shortMessage: `There is a ${this.#kind} ${quote(id)} already.`,
        nextStep: "Give this one another id.",
      });
    }
    this.#held.set(id, value);
    return this;
  }

  /** @throws BaseError …_UNKNOWN */
  get(id: string): Value {
    const held = this.#held.get(id);
    if (held !== undefined) return held;
    throw new BaseError({
      code: `${this.#kind.toUpperCase()}_UNKNOWN`,
      shortMessage: `There is no ${this.#kind} ${quote(id)} here; there are: ${this.ids().map(quote).join(", ") || "none"}.`,
      nextStep: `Configure it, or name one of these.`,
    });
  }

  ids(): string[] {
    return [...this.#held.keys()];
  }
}
