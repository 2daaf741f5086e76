/** Fills a chat template with bounds: whoever publishes a model writes it, and whoever runs the model fills it between
 *  other work. */
import { Environment, Interpreter, Template } from "@huggingface/jinja";

/** What a template of conversations stays far below. Steps: statements, expressions and turns of loops; so many elements of
 *  a list, or characters of a text, that are a value are one more. Length: of a list, or of a text. Space: white space in a
 *  row, which takes its square of time to read. */
export const MOST_FILLED = { steps: 2 ** 17, length: 2 ** 19, space: 2 ** 10 } as const;
const ELEMENTS_OF_STEP = 8;
const CHARACTERS_OF_STEP = 256;

const TOO_MUCH_SPACE = new RegExp(String.raw`\s{${MOST_FILLED.space + 1}}`);

interface Statement {
  readonly type: string;
}

/** What is used of `Interpreter`, whose package has types that are found under no resolution of Node.js. */
interface Evaluation {
  run(program: Statement): { readonly value: unknown };
  evaluate(statement: Statement | undefined, environment: object): unknown;
}
const Evaluating = Interpreter as unknown as new (environment: object) => Evaluation;

export class BoundedTemplate {
  readonly #program: Statement;

  /** @throws Error for what is no Jinja */
  constructor(template: string) {
    if (TOO_MUCH_SPACE.test(template))
      throw new Error(`it has more than ${MOST_FILLED.space} spaces in a row`);
    this.#program = new Template(template).parsed;
  }

  /** @param values by name @throws Error where the template refuses them, or does too much */
  fill(values: Readonly<Record<string, unknown>>): string {
    const environment = new Environment();
    const given = { true: true, false: false, none: null, True: true, False: false, None: null, ...values };
    for (const [name, value] of Object.entries(given)) environment.set(name, value);
    environment.set("range", range);
    environment.set("raise_exception", raise);
    // No date: the same conversation has the same ids on every day. Templates ask whether there is one.
    return String(new BoundedInterpreter(environment).run(this.#program).value);
  }
}

class BoundedInterpreter extends Evaluating {
  #steps = 0;
  /** what loops go through, each of whose elements is a turn */
  readonly #loops = new Set<unknown>();

  override evaluate(statement: Statement | undefined, environment: object): unknown {
    this.#count(1);
    if (statement?.type === "For") this.#loops.add(iterableOf(statement));
    const result = super.evaluate(statement, environment);
    // An empty list has no first element.
    const value = (result as { readonly value?: unknown } | undefined)?.value;
    const isList = Array.isArray(value);
    if (!isList && typeof value !== "string") return result;
    requireLength(value.length);
    const perStep = this.#loops.has(statement) ? 1 : isList ? ELEMENTS_OF_STEP : CHARACTERS_OF_STEP;
    this.#count(Math.floor(value.length / perStep));
    return result;
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_FILLED.steps) throw tooMuch(`${MOST_FILLED.steps} steps`);
  }
}

/** The expression of a loop's list; of one with a condition, what it is chosen from. */
function iterableOf(loop: Statement): unknown {
  const { iterable } = loop as unknown as {
    readonly iterable: { readonly type: string; readonly lhs?: unknown };
  };
  return iterable.type === "SelectExpression" ? iterable.lhs : iterable;
}

/** Of Jinja, for whole numbers. */
function range(first: number, second?: number, step = 1): number[] {
  const [from, to] = second === undefined ? [0, first] : [first, second];
  if (![from, to, step].every(Number.isSafeInteger) || step === 0)
    throw new Error(`range(${from}, ${to}, ${step}) has no whole numbers`);
  const length = Math.max(0, Math.ceil((to - from) / step));
  requireLength(length);
  return Array.from({ length }, (_, i) => from + i * step);
}

function raise(message: unknown): never {
  throw new Error(String(message));
}

function requireLength(length: number): void {
  if (length > MOST_FILLED.length) throw tooMuch(`a text or a list of ${MOST_FILLED.length}`);
}

const tooMuch = (limit: string) => new Error(`it takes more than ${limit}`);
