/** tokenizer.json and tokenizer_config.json of a GGUF file's metadata, and what is refused. */
import { describe, expect, it } from "vitest";
import type { GgufValue } from "../../../inference/derive/gguf.ts";
import { derivedText } from "../../../inference/derive/tokenizer.ts";
import { MOST, readTokenizerFiles, type TokenizerFiles } from "../../../inference/text/tokenizer-file.ts";
import type { Entry } from "../../support/gguf-file.ts";
import {
  derivedFrom,
  END,
  type Metadata,
  tokenizerEntries,
  tokenizerFilesOf,
} from "../../support/small-tokenizer.ts";

const GGML = "tokenizer.ggml.";
const NO_BYTES = new Uint8Array(0);
const entries = tokenizerEntries();
const list = (name: string) => entries[GGML + name]?.[2] as readonly (string | number)[];
const withEntry = (name: string, entry: Entry): Metadata => ({ ...entries, [GGML + name]: entry });
const withTokens = (change: (tokens: string[]) => string[]): Metadata =>
  withEntry("tokens", ["array", "string", change([...(list("tokens") as string[])])]);
const withMerges = (...more: string[]): Metadata =>
  withEntry("merges", ["array", "string", [...(list("merges") as string[]), ...more]]);

describe("derivedText", () => {
  it("default: the same metadata give the same files, which hold all that text takes", () => {
    const files = tokenizerFilesOf();
    expect(tokenizerFilesOf()).toEqual(files);
    const { tokens, control, splitting, end, begin } = readTokenizerFiles(files);
    expect(tokens).toEqual(list("tokens"));
    expect({ control, splitting, end, begin }).toEqual({
      control: [0, 1, 2],
      splitting: "smollm",
      end: END,
      begin: 1,
    });
    const parsed = JSON.parse(new TextDecoder().decode(files["tokenizer.json"]));
    expect(Object.keys(parsed.model.vocab)).toHaveLength(tokens.length);
    const config = JSON.parse(new TextDecoder().decode(files["tokenizer_config.json"]));
    expect(config).toMatchObject({ bos_token: "<|im_start|>", eos_token: "<|im_end|>" });
  });

  it("behavior: tokens that are numbers, or __proto__, keep their ids", () => {
    const merges = ["_ _", "p r", "o t", "pr ot", "prot o", "__ proto", "__proto __"];
    const made = merges.map((merge) => merge.replace(" ", ""));
    const types = [...list("token_type"), ...made.map(() => 1)];
    const changed = {
      ...withMerges(...merges),
      ...{ "tokenizer.ggml.tokens": ["array", "string", [...list("tokens"), ...made]] as Entry },
      ...{ "tokenizer.ggml.token_type": ["array", "i32", types] as Entry },
    };
    expect(readTokenizerFiles(tokenizerFilesOf(changed)).tokens.at(-1)).toBe("__proto__");
  });

  it("behavior: kinds that are not known give no text, and say why", () => {
    expect(derivedFrom({}, 256)).toEqual({
      without: "the file's tokenizer.ggml.model is absent, only gpt2 is read",
    });
    expect(derivedFrom(withEntry("pre", ["string", "llama-bpe"]))).toEqual({
      without: `the file's tokenizer.ggml.pre is "llama-bpe", only gpt-2 and smollm are read`,
    });
    const types = [...list("token_type")];
    types[7] = 4;
    expect(derivedFrom(withEntry("token_type", ["array", "i32", types]))).toEqual({
      without: "token 7 of the file has the type 4, only 1, 3, 5 are read",
    });
  });

  it("error: a vocabulary that is not whole, by name", () => {
    const refused = (metadata: Metadata, vocabulary?: number) =>
      expect(() => derivedFrom(metadata, vocabulary));
    refused(entries, 512).toThrow(/has 278 tokens and the types of 278, the model has 512 ids/);
    refused(withTokens((tokens) => tokens.with(9, "b"))).toThrow(/tokens 9 and \d+ are both "b"/);
    refused(withTokens((tokens) => tokens.with(9, ""))).toThrow(/token 9 has 0 characters/);
    refused(withTokens((tokens) => tokens.with(277, "x".repeat(1_025)))).toThrow(
      /token 277 has 1025 characters/,
    );
    refused(withTokens((tokens) => tokens.with(9, "日"))).toThrow(
      /token 9, "日", has a character that stands for no byte/,
    );
    refused(withMerges("th zz")).toThrow(/merge \d+ names "zz", which is no token/);
    refused(withMerges("th in")).toThrow(/merge \d+ names "thin", which is no token/);
    refused(withMerges("t h")).toThrow(/merge \d+, "t h", is there twice/);
    refused(withMerges("a b c")).toThrow(/merge \d+, "a b c", is no pair/);
    refused(withEntry("merges", ["u32", 5])).toThrow(/its entry tokenizer.ggml.merges is no list of strings/);
    refused(withEntry("token_type", ["array", "string", ["1"]])).toThrow(/token_type is no list of numbers/);
    refused(withEntry("eos_token_id", ["u32", 999])).toThrow(/names the token 999, and has 278/);
    refused(withEntry("eos_token_id", ["u32", 50])).toThrow(
      /token 50, "\S+", ends an answer and is no control token/,
    );
    refused(withEntry("bos_token_id", ["i32", -5])).toThrow(/names the token 4294967291|names the token -5/);
  });

  it("error: a control token that a text could become", () => {
    const types = [...list("token_type")];
    const id = list("tokens").indexOf("Ġthe");
    types[id] = 3;
    const ofMerge = withEntry("token_type", ["array", "i32", types]);
    expect(() => derivedFrom(ofMerge)).toThrow(/merge 2 gives the control token "Ġthe"/);
    const ofByte = withTokens((tokens) => tokens.with(0, "a").with(tokens.indexOf("a"), "<gone>"));
    expect(() => derivedFrom(ofByte)).toThrow(
      /control token 0 is the byte "a", so that a text could hold it/,
    );
  });

  it("error: too many", () => {
    const metadata = new Map(
      Object.entries(entries).map(([name, entry]) => [name, entry.at(-1) as GgufValue]),
    );
    const refused = (name: string, values: readonly GgufValue[]) =>
      expect(() =>
        derivedText(
          { metadata: new Map([...metadata, [GGML + name, values]]), tensors: new Map(), bytes: NO_BYTES },
          name === "tokens" ? values.length : 278,
        ),
      );
    refused("merges", new Array(MOST.merges + 1).fill("t h")).toThrow(
      /has 262145 merges, at most 262144 are read/,
    );
    metadata.set(`${GGML}token_type`, new Array(MOST.tokens + 1).fill(1));
    refused(
      "tokens",
      Array.from({ length: MOST.tokens + 1 }, (_, i) => `t${i}`),
    ).toThrow(/has 65536 tokens, at most 65535 are read/);
    const template: Metadata = { ...entries, "tokenizer.chat_template": ["string", "x".repeat(65_537)] };
    expect(() => derivedFrom(template)).toThrow(/has 65537 characters of a chat template/);
  });
});

describe("readTokenizerFiles", () => {
  const files = tokenizerFilesOf();
  const text = (name: keyof TokenizerFiles) => new TextDecoder().decode(files[name]);
  const changed = (name: keyof TokenizerFiles, from: string, to: string): TokenizerFiles => ({
    ...files,
    [name]: new TextEncoder().encode(text(name).replace(from, to)),
  });
  const refused = (from: string, to: string) =>
    expect(() => readTokenizerFiles(changed("tokenizer.json", from, to)));

  it("error: anything that a derivation does not write", () => {
    refused('"normalizer":null', '"normalizer":{"type":"Lowercase"}').toThrow(
      /tokenizer.json has something besides/,
    );
    refused('"unk_token":null', '"unk_token":"<|im_end|>"').toThrow(/something besides/);
    refused("\\\\p{N}", "(a+)+b").toThrow(/its pre_tokenizer is none of those of gpt-2, smollm/);
    refused('"<|pad|>":0', '"<|pad|>":1').toThrow(/"<\|im_start\|>" and "<\|pad\|>" both have the id 1/);
    refused('"<|pad|>":0', '"<|pad|>":278').toThrow(
      /token "<\|pad\|>" has the id 278, must be one below 278/,
    );
    refused('"<|pad|>":0,', "").toThrow(/has the id 277, must be one below 277/);
    refused('"merges":[', '"merges":[5,').toThrow(/merge 0 is no pair of tokens/);
    refused('"merges":', '"others":').toThrow(/its merges are no list/);
    refused('"added_tokens":[', '"added_tokens":[null,').toThrow(/names the token -1/);
    const length = `{"id":"length","content":${list("tokens").length}`;
    refused('{"id":0,"content":"<|pad|>"', length).toThrow(/names the token -1/);
    refused("{", "[").toThrow(/is no JSON/);
    // What stands in for characters of messages is half of a pair: a token of that name would be what a user writes.
    refused('"<|pad|>":0', '"\\udc00":0').toThrow(/token 0 has half of a surrogate pair/);
    const half = changed("tokenizer_config.json", '"chat_template": "', '"chat_template": "\\ud83d');
    expect(() => readTokenizerFiles(half)).toThrow(/its chat template has half of a surrogate pair/);
    const config = changed("tokenizer_config.json", "<|im_end|>", "<|gone|>");
    expect(() => readTokenizerFiles(config)).toThrow(/names the token -1/);
  });
});
