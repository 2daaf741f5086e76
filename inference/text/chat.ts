/** Conversations to ids, by a model's chat template. */
import { shownValue } from "../../base/json.ts";
import { fail } from "../onnx/fail.ts";
import { BoundedTemplate } from "./bounded-template.ts";
import { type Tokenizer, wellFormed } from "./tokenizer.ts";

export const ROLES = ["system", "user", "assistant"] as const;
export type Role = (typeof ROLES)[number];

export interface Message {
  readonly role: Role;
  readonly content: string;
}

/** The first half of none: in a text that is well-formed none of these stands alone. */
const STAND_INS = { first: 0xdc00, most: 2 ** 10 } as const;

/** @param value as it came, of a request @throws MESSAGES_INVALID naming the place and what must be there */
export function checkedMessages(value: unknown): readonly Message[] {
  if (!Array.isArray(value) || value.length === 0) throw wrong("messages", value, "a list with a message");
  for (const [i, message] of value.entries()) {
    const { role, content } = (message ?? {}) as Partial<Record<"role" | "content", unknown>>;
    if (!(ROLES as readonly unknown[]).includes(role))
      throw wrong(`messages[${i}].role`, role, ROLES.join(", "));
    if (typeof content !== "string") throw wrong(`messages[${i}].content`, content, "a text");
  }
  return value.map(({ role, content }: Message) => ({ role, content }));
}

/** Writes conversations as a model was trained on them. A message's text never becomes a control token: characters that
 *  begin or end one are stand-ins while the template is filled, and what the template itself says is told apart so. */
export class ChatTemplate {
  readonly #template: BoundedTemplate;
  readonly #tokenizer: Tokenizer;
  readonly #control: RegExp;
  readonly #standIns: ReadonlyMap<string, string>;
  readonly #originals: ReadonlyMap<string, string>;

  /** @throws MODEL_WITHOUT_CHAT; TEMPLATE_INVALID for one that is no Jinja */
  constructor(tokenizer: Tokenizer) {
    const { template } = tokenizer.parts;
    if (template === undefined)
      throw fail(
        "MODEL_WITHOUT_CHAT",
        "The model's tokenizer has no chat template: it was not trained on conversations.",
        "Ask it with ids, or take an instruct model.",
      );
    this.#template = parsed(template);
    this.#tokenizer = tokenizer;
    const names = [...tokenizer.control.keys()].sort((a, b) => b.length - a.length);
    this.#control = new RegExp(`(${names.map(escaped).join("|")})`);
    const edges = new Set(names.flatMap((name) => [[...name][0] as string, [...name].at(-1) as string]));
    if (edges.size > STAND_INS.most)
      throw fail(
        "TEMPLATE_INVALID",
        `Control tokens begin and end with ${edges.size} different characters, at most ${STAND_INS.most} are told apart.`,
        "Take another model.",
      );
    const pairs = [...edges].map((edge, i) => [edge, String.fromCharCode(STAND_INS.first + i)] as const);
    this.#standIns = new Map(pairs);
    this.#originals = new Map(pairs.map(([edge, standIn]) => [standIn, edge]));
  }

  /** Ids of a conversation that the assistant is to answer.
   *  @throws TEMPLATE_REFUSES where the template does not take it; TEXT_NOT_ENCODABLE */
  ids(messages: readonly Message[]): number[] {
    const text = this.#filled(messages);
    const { control } = this.#tokenizer;
    return text.split(this.#control).flatMap((part) => {
      const id = control.get(part);
      if (id !== undefined) return [id];
      return this.#tokenizer.ids(Array.from(part, (c) => this.#originals.get(c) ?? c).join(""));
    });
  }

  #filled(messages: readonly Message[]): string {
    const { tokens, begin, end } = this.#tokenizer.parts;
    const standingIn = (content: string): string =>
      Array.from(wellFormed(content), (c) => this.#standIns.get(c) ?? c).join("");
    const values = {
      messages: messages.map(({ role, content }) => ({ role, content: standingIn(content) })),
      add_generation_prompt: true,
      bos_token: begin === undefined ? "" : tokens[begin],
      eos_token: tokens[end],
    };
    try {
      return this.#template.fill(values);
    } catch (cause) {
      throw fail(
        "TEMPLATE_REFUSES",
        `The model's chat template does not take this conversation: ${because(cause)}.`,
        "Send one system message at most, in front, then user and assistant in turn.",
        {},
        cause,
      );
    }
  }
}

function parsed(template: string): BoundedTemplate {
  try {
    return new BoundedTemplate(template);
  } catch (cause) {
    const why = `The model's chat template is no Jinja that is understood: ${because(cause)}.`;
    throw fail("TEMPLATE_INVALID", why, "Ask the model with ids.", {}, cause);
  }
}

const because = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const wrong = (place: string, value: unknown, limit: string) =>
  fail(
    "MESSAGES_INVALID",
    `${place} is ${shownValue(value)}, must be ${limit}.`,
    'Send {"messages": [{"role": "user", "content": "…"}]}.',
    { place },
  );
