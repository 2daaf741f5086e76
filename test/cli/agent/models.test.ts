import { describe, expect, it } from "vitest";
import { modelConfigOf, openModels } from "../../../cli/agent/models.ts";

const ID = `0x${"ab".repeat(32)}`;

describe("openModels", () => {
  it("error: a model of another kind for an agent that names one of the registry", async () => {
    for (const spec of ["openai:gpt", "llama", "llama:file.gguf"]) {
      const config = modelConfigOf({ flags: { model: `m=openai:gpt,${ID}=${spec}` }, env: {} });
      await expect(openModels(config)).rejects.toMatchObject({
        code: "ARGUMENT_INVALID",
        message: expect.stringContaining(`${ID}=exact:FOLDER`),
      });
    }
  });
});
