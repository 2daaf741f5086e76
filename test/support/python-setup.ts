import type { TestProject } from "vitest/node";
import { freshPython } from "../../tools/python.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** path of the Python that has the built wheel installed */
    python: string;
  }
}

/** Builds the wheel and installs it in an environment of its own, which all files of the suite use. */
export default function setup(project: TestProject): () => void {
  const { python, remove } = freshPython(["pytest", "pytest-asyncio"]);
  project.provide("python", python);
  return remove;
}
