/** The metadata files that the text shows, specs/003, lines 11-41 and 377-465. */
import type { AbiParameter } from "../../inference/manifest/abi.ts";
import type { AgentMetadata } from "../../inference/manifest/assay.ts";

const string = (name: string): AbiParameter => ({ name, type: "string" });
const method = (name: string, inputs: readonly AbiParameter[], outputs: readonly AbiParameter[]) =>
  ({ type: "function", name, inputs, outputs }) as const;
const FETCH = method("fetch", [string("url"), string("selector")], [string("result")]);

/** The "complete schema". */
export const COMPLETE_EXAMPLE: AgentMetadata = {
  name: "json-selector",
  description: "Fetches JSON from a URL and extracts values using selectors",
  image: "https://example.com/agent-logo.png",
  container_image: "ipfs://QmExampleContainerCID",
  version: "1.0.0",
  author: "Somnia Team",
  abi: [FETCH],
  tags: ["utility", "json", "oracle"],
  homepage: "https://somnia.network/agents/json-selector",
  repository: "https://github.com/example/json-selector-agent",
  external_url: "https://somnia.network/agents/1",
  attributes: [
    { trait_type: "Category", value: "Oracle" },
    { trait_type: "Complexity", value: "Simple" },
  ],
};

export const AGENT_EXAMPLES: readonly AgentMetadata[] = [
  {
    name: "JSON Selector",
    description: "Fetches JSON from any URL and extracts values using selector paths",
    container_image: "ipfs://QmJsonSelectorCID",
    version: "1.0.0",
    author: "Somnia Team",
    abi: [FETCH],
    tags: ["oracle", "json", "api"],
  },
  {
    name: "AI Generate",
    description: "Generate text using Somnia's on-chain deterministic AI",
    container_image: "ipfs://QmLLMAgentCID",
    version: "1.0.0",
    author: "Somnia Team",
    abi: [
      method("generate", [string("prompt")], [string("response")]),
      method(
        "chat",
        [
          { name: "messages", type: "string[]" },
          { name: "roles", type: "string[]" },
        ],
        [string("response")],
      ),
    ],
    tags: ["ai", "llm", "generate"],
  },
  {
    name: "Data Processor",
    description: "Process data with multiple return values",
    container_image: "ipfs://QmDataProcessorCID",
    version: "1.0.0",
    author: "Somnia Team",
    abi: [
      method(
        "analyze",
        [{ name: "data", type: "bytes" }],
        [
          { name: "hash", type: "bytes32" },
          { name: "size", type: "uint256" },
          { name: "valid", type: "bool" },
        ],
      ),
    ],
  },
];
