/** Conversations to ids: what a user writes never speaks for the template. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex } from "../../../base/bytes.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { checkedMessages, type Message } from "../../../inference/text/chat.ts";
import { askedIfAny } from "../../../inference/text/data-text.ts";
import { ID_OFFSET, NO_ID } from "../../../inference/text/ids.ts";
import { wellFormed } from "../../../inference/text/tokenizer.ts";
import {
  BEGIN,
  CONTROL,
  END,
  type Metadata,
  smallText,
  tokenizerEntries,
} from "../../support/small-tokenizer.ts";

const model = smallText();
const user = (content: string): Message => ({ role: "user", content });
const withTemplate = (template: string): Metadata => ({
  ...tokenizerEntries(),
  "tokenizer.chat_template": ["string", template],
});
const SELECTOR = "0x00000000";
const calldataOf = (int16s: readonly number[]): Uint8Array =>
  encodeInput({ inputCodec: "int16s", inputSize: model.lengths.prompt }, fromHex(SELECTOR), {
    codec: "int16s",
    int16s,
  });
const controlOf = (ids: readonly number[]): number[] => ids.filter((id) => id < CONTROL.length);

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...CONTROL, "<|im_", "end|>", "<", "|", ">", "<<|im_end|>>", "<|im_|im_end|>end|>"),
      fc.constantFrom("\n", " ", "{{", "}}", "{%", "\udc00", "\udc01", "\ud800", "assistant\n", "\\u003c"),
      fc.string({ unit: "binary" }),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join(""));

describe("ModelText", () => {
  it("default: a conversation by the template, which the assistant is to answer", () => {
    const ids = model.ids([{ role: "system", content: "be" }, user("hi")]);
    const { tokenizer } = model;
    const turn = (text: string) => [BEGIN, ...tokenizer.ids(text), END, ...tokenizer.ids("\n")];
    expect(ids).toEqual([...turn("system\nbe"), ...turn("user\nhi"), BEGIN, ...tokenizer.ids("assistant\n")]);
  });

  it("behavior: nothing that a user writes becomes a control token, and all of it stays", () => {
    const expected = controlOf(model.ids([user("")]));
    expect(expected).toEqual([BEGIN, END, BEGIN]);
    fc.assert(
      fc.property(hostile, (text) => {
        const ids = model.ids([user(text)]);
        expect(controlOf(ids)).toEqual(expected);
        const begin = model.tokenizer.ids("user\n");
        const inside = ids.slice(1, ids.indexOf(END));
        expect(model.tokenizer.text(inside)).toBe(`user\n${wellFormed(text)}`);
        expect(inside.slice(0, begin.length - 1)).toEqual(begin.slice(0, -1));
      }),
      { numRuns: 2_000 },
    );
  });

  it("behavior: nor where a template trims or cuts what he writes", () => {
    const template =
      "{% for m in messages %}{{ '<|im_start|>' + m['content'].split('>')[-1] | trim + '<|im_end|>' }}{{ m['content'] | trim | upper }}{% endfor %}";
    const cut = smallText(1_000, withTemplate(template));
    fc.assert(
      fc.property(hostile, (text) => {
        expect(controlOf(cut.ids([user(text)]))).toEqual([BEGIN, END]);
      }),
      { numRuns: 1_000 },
    );
    const trimmed = smallText(100, withTemplate("{{ messages[0]['content'] | trim }}"));
    expect(trimmed.tokenizer.text(trimmed.ids([user(" <|im_end|> ")]))).toBe("<|im_end|>");
  });

  it.each([
    ["a list that fills the memory", "{% for i in range(30000000) %}{% endfor %}"],
    ["loops in loops", "{% for i in range(3000) %}{% for j in range(3000) %}{% endfor %}{% endfor %}"],
    [
      "a text that doubles",
      "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}",
    ],
    ["numbers that are not whole", "{{ range(0, 1, 0.0000001) | length }}"],
  ])("error: a template of %s is refused, and does not stop who fills it", (_, template) => {
    const started = performance.now();
    expect(() => smallText(100, withTemplate(template)).ids([user("hi")])).toThrow(
      "does not take this conversation",
    );
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it("error: a template with too many spaces in a row is refused, as reading it takes the square of them", () => {
    const spaces = smallText(100, withTemplate(`a${" ".repeat(2_000)}b`));
    expect(() => spaces.ids([user("hi")])).toThrow("more than 1024 spaces in a row");
  });

  it("behavior: a template is given no date: the same conversation has the same ids on every day", () => {
    const template =
      "{% if strftime_now is defined %}{{ strftime_now('%d') }}{% endif %}{{ range(1, 6, 2) | join }}";
    const dated = smallText(100, withTemplate(template));
    expect(dated.tokenizer.text(dated.ids([user("hi")]))).toBe("135");
  });

  it("behavior: a prompt has nothing in front, and an answer nothing behind its end", () => {
    const { ids, int16s } = model.prompt([user("hi")]);
    expect(int16s).toHaveLength(1_000);
    expect(int16s.slice(0, -ids.length).every((number) => number === NO_ID)).toBe(true);
    expect(int16s.slice(-ids.length)).toEqual(ids.map((id) => id - ID_OFFSET));
    const answer = [...model.tokenizer.ids("é ab"), END];
    const numbers = Int16Array.from([...answer.map((id) => id - ID_OFFSET), NO_ID, NO_ID]);
    expect(model.answer(numbers)).toEqual({ text: "é ab", ids: answer });
  });

  it("default: calldata read back are the prompt, with control tokens by their names, and its ids", () => {
    const readBack = (content: string) => {
      const { int16s, ids } = model.prompt([user(content)]);
      const calldata = calldataOf(int16s);
      const asked = model.promptOf(calldata);
      expect(asked.ids).toEqual(ids);
      expect(askedIfAny({ text: model, selector: SELECTOR }, calldata)).toEqual(asked);
      return asked.text;
    };
    expect(readBack("hé")).toBe("<|im_start|>user\nhé<|im_end|>\n<|im_start|>assistant\n");
    // The ids alone tell what a user wrote from what the template did.
    expect(readBack("<|im_end|>")).toContain("user\n<|im_end|><|im_end|>\n");
    expect(askedIfAny({ text: model, selector: SELECTOR }, new Uint8Array(3))).toBeUndefined();
    expect(askedIfAny({}, new Uint8Array(3))).toBeUndefined();
  });

  it("error: calldata of another function are no prompt", () => {
    const { int16s } = model.prompt([user("hi")]);
    const calldata = calldataOf(int16s);
    expect(askedIfAny({ text: model, selector: SELECTOR }, calldata)?.text).toContain("hi");
    expect(askedIfAny({ text: model, selector: "0x00000001" }, calldata)).toBeUndefined();
    expect(askedIfAny({ text: model }, calldata)).toBeUndefined();
  });

  it("error: nothing between ids, or on the other side of them, is no text: it would read like other data", () => {
    const { int16s } = model.prompt([user("hi")]);
    const asked = (numbers: readonly number[]) =>
      askedIfAny({ text: model, selector: SELECTOR }, calldataOf(numbers));
    expect(asked([...int16s.slice(2), NO_ID, NO_ID])).toBeUndefined();
    expect(asked([...int16s.slice(1, -2), NO_ID, ...int16s.slice(-2)])).toBeUndefined();
    const [a = 0, b = 0] = model.tokenizer.ids("ab cd").map((id) => id - ID_OFFSET);
    expect(model.answer([a, b, NO_ID]).ids).toHaveLength(2);
    for (const numbers of [
      [a, NO_ID, b],
      [NO_ID, a, b],
    ])
      expect(() => model.answer(numbers)).toThrow("65535");
  });

  it("behavior: the oldest turns are left out until the rest fits", () => {
    const by = (role: Message["role"], content: string): Message => ({ role, content });
    const system = by("system", "be");
    const talk = [
      system,
      ...[by("user", "one"), by("assistant", "two"), by("user", "three"), by("assistant", "four")],
      by("user", "five"),
    ];
    const length = (messages: readonly Message[]) => model.ids(messages).length;
    const kept = (limit: number) => smallText(limit).lastTurns(talk).messages;
    expect(kept(length(talk))).toEqual(talk);
    expect(kept(length(talk) - 1)).toEqual([system, ...talk.slice(3)]);
    const least = [system, ...talk.slice(5)];
    expect(kept(length(least))).toEqual(least);
    expect(() => kept(length(least) - 1)).toThrow(
      new RegExp(
        `has ${length(least)} ids with what the chat template adds, the model takes ${length(least) - 1}`,
      ),
    );
  });

  it("error: too long, without counting what is far too long", () => {
    expect(() => smallText(5).prompt([user("a b c d e f")])).toThrow(
      /has \d+ ids with what the chat template adds, the model takes 5\. Shorten it/,
    );
    expect(() => smallText(5).prompt([user("x".repeat(1_000_000))])).toThrow(/at least \d+ ids/);
  });

  it("error: no template, one that is no Jinja, one that refuses", () => {
    const { "tokenizer.chat_template": _, ...plain } = tokenizerEntries();
    const codeOf = (metadata: Metadata): string => {
      try {
        smallText(100, metadata).ids([user("hi")]);
      } catch (error) {
        return (error as { code: string }).code;
      }
      return "none";
    };
    expect(codeOf(plain)).toBe("MODEL_WITHOUT_CHAT");
    expect(codeOf(withTemplate("{% for"))).toBe("TEMPLATE_INVALID");
    expect(codeOf(withTemplate("{{ raise_exception('no') }}"))).toBe("TEMPLATE_REFUSES");
  });
});

describe("checkedMessages", () => {
  it("default: role and content alone", () => {
    expect(checkedMessages([{ role: "user", content: "hi", name: "x" }])).toEqual([user("hi")]);
  });

  it("error: names the place", () => {
    const message = (value: unknown) => expect(() => checkedMessages(value));
    message(undefined).toThrow(/messages is missing, must be a list with a message/);
    message([]).toThrow(/messages is \[\]/);
    message([user("a"), { role: "tool", content: "b" }]).toThrow(
      /messages\[1\]\.role is "tool", must be system, user, assistant/,
    );
    message([{ role: "user", content: 5 }]).toThrow(/messages\[0\]\.content is 5, must be a text/);
    message([null]).toThrow(/messages\[0\]\.role is missing/);
  });
});
