/** Bundles of our modules as a browser loads them. */
import { build } from "esbuild";
import { projectRoot } from "../../tools/foundry.ts";

export interface BrowserBundle {
  /** one ES module */
  readonly code: string;
  /** our own files in it, below the project's folder */
  readonly ours: readonly string[];
}

/** @param source of a module in the project's folder
 *  @throws Error with the bundler's messages, such as for a module of Node.js */
export async function bundleForBrowser(source: string): Promise<BrowserBundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: projectRoot, loader: "ts" },
    absWorkingDir: projectRoot,
    bundle: true,
    platform: "browser",
    format: "esm",
    minifySyntax: true,
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  return {
    code: outputFiles[0]?.text ?? "",
    ours: inputs.filter((path) => !path.includes("node_modules") && path !== "<stdin>"),
  };
}
