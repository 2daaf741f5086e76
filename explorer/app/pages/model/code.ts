/** The same question in languages that agents are written in. */
import type { Model } from "../../../api/types.ts";
import { visible } from "../../parts/visible.ts";
import type { Draft } from "./inputs.ts";

const ALL = ["Solidity", "TypeScript", "Python", "curl"] as const;
export type Language = (typeof ALL)[number];
/** Without a server there is nothing that curl could ask. @param origin of the server */
export const languages = (origin: string | undefined): readonly Language[] =>
  ALL.filter((language) => language !== "curl" || origin !== undefined);

interface Parameter {
  readonly name: string;
  readonly type: string;
}

/** Names that a stranger's manifest gives go into comments and code as letters and digits alone. */
const identifier = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 40) || "value";
const SHOWN = 80;
const literal = (text: string): string =>
  JSON.stringify(visible(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text));

const memory = (type: string): string => (/^(string|bytes)$|\[/.test(type) ? `${type} memory` : type);

export function codeFor(language: Language, model: Model, draft: Draft, origin = ""): string {
  const inputs = (model.function?.inputs ?? []) as readonly Parameter[];
  const outputs = (model.function?.outputs ?? []) as readonly Parameter[];
  const signature = `${identifier(String(model.function?.name ?? "infer"))}(${inputs.map(({ type }) => type.replace(/[^a-z0-9[\]]/g, "")).join(",")})`;
  const types = outputs.map(({ type }) => type.replace(/[^a-z0-9[\]]/g, ""));
  const names = inputs.map(({ name }) => identifier(name));
  const values = Object.entries(draft)
    .slice(0, 4)
    .map(([name, text]) => `  ${identifier(name)}: ${literal(text)},`);
  switch (language) {
    case "Solidity":
      return [
        'import {IInterpreter, ModelId} from "@assay/contracts/interfaces/IInterpreter.sol";',
        "",
        `ModelId constant MODEL = ModelId.wrap(${model.modelId});`,
        "",
        `function ask(IInterpreter interpreter, ${inputs.map(({ type }, i) => `${memory(type)} ${names[i]}`).join(", ")})`,
        `    view returns (${types.map(memory).join(", ")})`,
        "{",
        `    bytes memory input = abi.encodeWithSignature("${signature}", ${names.join(", ")});`,
        `    return abi.decode(interpreter.infer(MODEL, input), (${types.join(", ")}));`,
        "}",
      ].join("\n");
    case "TypeScript":
      return [
        'import { connect, infer, openModel, parseDeployment } from "@assay/sdk";',
        "",
        "const chain = await connect({ rpcUrl, deployment: parseDeployment(text, path) });",
        `const model = await openModel(chain, "${model.modelId}");`,
        "const values = await infer(chain, model, {",
        ...values,
        "});",
      ].join("\n");
    case "Python":
      return [
        "chain = assay.connect(w3, assay.read_deployment(path))",
        `model = chain.open_model("${model.modelId}")`,
        "values = chain.infer(model, {",
        ...values.map((line) => line.replace(/^( {2})(\w+):/, '$1"$2":')),
        "})",
      ].join("\n");
    case "curl":
      return [
        `curl ${origin}/v1/models/${model.modelId}/infer \\`,
        "  -H 'content-type: application/json' \\",
        `  -d '{"input": "0x…"}'   # calldata of ${signature}`,
      ].join("\n");
  }
}
