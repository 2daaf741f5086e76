/** What is asked of an agent's metadata. docs/AGENT-METADATA.md shows this table. Source: specs/003, lines 43-170 and
 *  562-594, and what specs/CHECKLIST.md, D-68 to D-72, resolves. */

export const METADATA_RULES = {
  required:
    "`name`, `description`, `container_image`, `version` and `abi` are there; so are `type`, `name`, `inputs` and `outputs` of a function, and `name` and `type` of an input",
  form: "every field has its JSON type; texts are not blank",
  "container-image": "`container_image` is an `https://`, `http://` or `ipfs://` URL, or a CID",
  url: "`image`, `homepage`, `repository` and `external_url` are URLs",
  version: "`version` is a semantic version (SemVer 2.0.0)",
  "abi-not-empty": "`abi` holds at least one function",
  "functions-only": '`type` is `"function"`: no events, errors, constructors',
  mutability: "`stateMutability`, if there, is `pure`, `view`, `nonpayable` or `payable`",
  "method-name": "method names are Solidity identifiers and no words of the language",
  "method-unique": "no two methods have one name, so there are no overloads",
  "selector-unique": "no two methods have one selector",
  "parameter-name": "parameter names are Solidity identifiers, or empty",
  "parameter-unique":
    "no two named parameters of a method, inputs and outputs together, have one name; nor two components of a tuple",
  type: "types are ABI types, at every depth, in their canonical spelling",
  "array-syntax": "arrays are `[]` or `[N]` with N from 1",
  "tuple-components": "`tuple`, `tuple[]`, `tuple[N]` have a `components` array that is not empty",
  limit: "the limits below hold",
} as const;

export const METADATA_ADVICE = {
  cid: "an `ipfs://` address names a valid CID",
  "unknown-field": "there are no other fields",
  homepage: "there is a `homepage`, with usage examples, limits and requirements",
  "camel-case": "method and parameter names are camelCase",
  described: "every method and parameter has a `description`",
} as const;

export type MetadataRule = keyof typeof METADATA_RULES;
export type MetadataAdvice = keyof typeof METADATA_ADVICE;

/** Against hostile files; no text sets them. */
export const METADATA_LIMITS = {
  /** of the file */
  bytes: 1 << 20,
  functions: 256,
  /** in one list of inputs, outputs or components */
  parameters: 128,
  tupleDepth: 16,
  arrayDimensions: 8,
} as const;
