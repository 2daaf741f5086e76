import { BaseError } from "../../../base/errors.ts";
import { COMPANIONS, type ImportSource } from "../../../inference/manifest/import-model.ts";
import { readJsonFile } from "../../../inference/manifest/json-file.ts";
import { MAX_FILE_BYTES } from "../../../inference/manifest/model-files.ts";
import { checkedTool } from "../../../inference/manifest/tool.ts";

const TOOL = "tool.json";
/** Of what lies beside the ONNX file, bytes. */
const MAX_COMPANION_BYTES = 1 << 20;

type Dropped = Pick<ImportSource, "onnx" | "tool" | "companions">;

/** Sorts and reads dropped files: one is the ONNX file, the others are known by their names.
 *  @throws BaseError FILES_UNCLEAR, FILE_TOO_LARGE, FILE_NOT_READABLE, FILE_NOT_JSON, TOOL_INVALID */
export async function readDropped(files: readonly File[]): Promise<Dropped> {
  const isBeside = ({ name }: File): boolean => name === TOOL || COMPANIONS.includes(name);
  const models = files.filter((file) => !isBeside(file));
  const [model] = models;
  if (model === undefined || models.length > 1) throw unclear(models);
  const onnx = await bytesOf(model, MAX_FILE_BYTES);
  const companions = new Map<string, Uint8Array>();
  let tool: ImportSource["tool"];
  for (const file of files.filter(isBeside)) {
    const content = await bytesOf(file, MAX_COMPANION_BYTES);
    if (file.name === TOOL) tool = checkedTool(readJsonFile(content, TOOL), TOOL);
    else companions.set(file.name, content);
  }
  // As a folder lists them, whatever order they were dropped in.
  const inOrder = COMPANIONS.flatMap((name) => {
    const content = companions.get(name);
    return content === undefined ? [] : [[name, content] as const];
  });
  return { onnx, tool, companions: new Map(inOrder) };
}

const unclear = (models: readonly File[]): BaseError =>
  new BaseError({
    code: "FILES_UNCLEAR",
    shortMessage:
      models.length === 0
        ? "There is no ONNX file among these."
        : `${models.length} files could be the model: ${models.map(({ name }) => name).join(", ")}.`,
    nextStep: `Give one ONNX file, and beside it only ${[TOOL, ...COMPANIONS].join(", ")}.`,
  });

async function bytesOf(file: File, limit: number): Promise<Uint8Array> {
  if (file.size > limit) {
    throw new BaseError({
      code: "FILE_TOO_LARGE",
      shortMessage: `${file.name} has ${file.size} bytes, at most ${limit} are read.`,
      nextStep: "Give a smaller file; what does not fit into a model's folder cannot be imported.",
    });
  }
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (cause) {
    throw new BaseError({
      code: "FILE_NOT_READABLE",
      shortMessage: `${file.name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      nextStep: "Choose the file again; a folder cannot be given.",
      cause,
    });
  }
}
