/** Calls of agents' methods: the text's examples (specs/003), and every kind of type. */
import type { AbiFunction, AbiParameter } from "../../inference/manifest/abi.ts";
import { AGENT_EXAMPLES } from "./agent-metadata.ts";

export interface AgentCallCase {
  readonly method: AbiFunction;
  readonly args: readonly unknown[];
  readonly results: readonly unknown[];
}

/** A valid address in place of the text's, which lacks a digit. */
export const RECIPIENT = "0x742d35Cc6634C0532925a3b844Bc454e4438f44e";
const HASH = `0x${"5a".repeat(32)}`;

const p = (name: string, type: string, ...components: AbiParameter[]): AbiParameter =>
  components.length === 0 ? { name, type } : { name, type, components };
const method = (name: string, inputs: AbiParameter[], outputs: AbiParameter[]): AbiFunction => ({
  type: "function",
  name,
  inputs,
  outputs,
});
const [FETCH, GENERATE, CHAT, ANALYZE] = AGENT_EXAMPLES.flatMap(({ abi }) => abi) as [
  AbiFunction,
  AbiFunction,
  AbiFunction,
  AbiFunction,
];

export const GREET = method("greet", [p("name", "string")], [p("greeting", "string")]);
const PROCESS_USER = method(
  "processUser",
  [p("user", "tuple", p("name", "string"), p("age", "uint256"), p("wallet", "address"))],
  [p("success", "bool")],
);
export const REQUEST = method(
  "request",
  [p("url", "string"), p("keys", "string[]"), p("values", "string[]")],
  [p("response", "string")],
);
export const CREATE_ORDER = method(
  "createOrder",
  [p("order", "tuple", p("item", "string"), p("quantity", "uint256"), p("recipient", "address"))],
  [p("orderId", "bytes32"), p("success", "bool")],
);

/** One value in, the same one out. */
const echo = (type: string, value: unknown, ...components: AbiParameter[]): AgentCallCase => ({
  method: method("echo", [p("x", type, ...components)], [p("y", type, ...components)]),
  args: [value],
  results: [value],
});
const point = [p("x", "int256"), p("y", "int256")];

export const CALLS: readonly AgentCallCase[] = [
  { method: GREET, args: ["Alice"], results: ["Hello, Alice!"] },
  {
    method: REQUEST,
    args: ["https://api.example.com/webhook", ["action", "amount"], ["transfer", "100"]],
    results: ["ok"],
  },
  {
    method: CREATE_ORDER,
    args: [{ item: "Widget", quantity: "5", recipient: RECIPIENT }],
    results: [HASH, true],
  },
  { method: PROCESS_USER, args: [{ name: "Bob", age: "42", wallet: RECIPIENT }], results: [true] },
  { method: FETCH, args: ["https://example.com/p.json", "data.price"], results: ["12.5"] },
  { method: GENERATE, args: ["Say hello"], results: ["Hello."] },
  {
    method: CHAT,
    args: [
      ["Be brief.", "Hi"],
      ["system", "user"],
    ],
    results: ["Hi."],
  },
  { method: ANALYZE, args: ["0x68656c6c6f"], results: [HASH, "5", false] },
  echo("string", "Ünïcode ✓ 利益 🦊"),
  echo("string", ""),
  echo("uint256", `${2n ** 256n - 1n}`),
  echo("int256", `${-(2n ** 255n)}`),
  echo("bool", false),
  echo("address", RECIPIENT),
  echo("bytes", "0x"),
  echo("bytes", `0x${"ab".repeat(33)}`),
  echo("bytes32", HASH),
  echo("string[]", ["a", "", "longer than one word of thirty-two bytes"]),
  echo("uint256[]", ["1", "2", "3"]),
  echo("uint256[]", []),
  echo("uint8", "255"),
  echo("int24", "-8388608"),
  echo("bytes4", "0x01020304"),
  echo("address[]", [RECIPIENT, RECIPIENT]),
  echo("uint256[3][]", [
    ["1", "2", "3"],
    ["4", "5", "6"],
  ]),
  echo("bool[][2]", [[true], [false, true]]),
  echo("tuple", { x: "-1", y: "7" }, ...point),
  echo(
    "tuple[]",
    [
      { x: "1", y: "2" },
      { x: "3", y: "-4" },
    ],
    ...point,
  ),
  echo(
    "tuple",
    { name: "A", at: { x: "1", y: "2" }, path: [{ x: "3", y: "4" }] },
    p("name", "string"),
    p("at", "tuple", ...point),
    p("path", "tuple[]", ...point),
  ),
  { method: method("nothing", [], []), args: [], results: [] },
];
