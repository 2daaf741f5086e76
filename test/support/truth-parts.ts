/** Small contracts that only tests deploy, beside the real ones. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Abi, createWalletClient, custom, encodeDeployData, type Hex } from "viem";
import type { Artifact } from "../../protocol/chain/deploy/parts.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { accountAt, type LocalChain } from "./anvil.ts";

const SOURCE = `// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Settlements} from "libraries/Settlements.sol";

/// A proof system that somebody broke: one byte of evidence makes any output true.
contract Liar {
    constructor(address) {}

    function isTrue(bytes32, bytes calldata, bytes calldata, bytes calldata evidence, address)
        external
        pure
        returns (bool)
    {
        return evidence.length == 1;
    }

    function areTrue(bytes32, address, bytes[] calldata batch) external pure returns (bool) {
        for (uint256 i = 0; i < batch.length; ++i) {
            (,,, bytes calldata evidence) = Settlements.read(batch[i]);
            if (evidence.length != 1) return false;
        }
        return true;
    }
}

/// Takes every delivery.
contract Listener {
    function onAssayResult(bytes32, bytes calldata, uint8, uint64, uint64) external {}
}

/// Takes none.
contract Refuser {
    fallback() external {
        revert();
    }
}
`;

/** What the parts import of the contracts, under the names that imports resolve to. */
const sourcesOf = (...files: readonly string[]) =>
  Object.fromEntries(
    files.map((file) => [
      file,
      { content: readFileSync(join(projectRoot, "verifier-contracts", file), "utf8") },
    ]),
  );

type Name = "Liar" | "Listener" | "Refuser";

interface Solc {
  compile(input: string): string;
}

/** @throws Error with the compiler's messages */
export function compileTruthParts(): Readonly<Record<Name, Artifact>> {
  const solc = createRequire(import.meta.url)("solc") as Solc;
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: "Solidity",
        sources: {
          parts: { content: SOURCE },
          ...sourcesOf(
            "interfaces/IAssayErrors.sol",
            "libraries/Memory.sol",
            "libraries/Settlements.sol",
            "types/Types.sol",
          ),
        },
        settings: { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
      }),
    ),
  ) as {
    errors?: readonly { severity: string; formattedMessage: string }[];
    contracts?: { parts: Record<Name, { abi: Abi; evm: { bytecode: { object: string } } }> };
  };
  const errors = output.errors?.filter(({ severity }) => severity === "error") ?? [];
  if (output.contracts === undefined || errors.length > 0) {
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  }
  const { parts } = output.contracts;
  const artifact = (name: Name): Artifact => ({
    abi: parts[name].abi,
    bytecode: `0x${parts[name].evm.bytecode.object}`,
  });
  return { Liar: artifact("Liar"), Listener: artifact("Listener"), Refuser: artifact("Refuser") };
}

/** Deploys a part without constructor arguments. */
export async function deployPart({ client }: LocalChain, { abi, bytecode }: Artifact): Promise<Hex> {
  const wallet = createWalletClient({ account: accountAt(0), transport: custom(client) });
  const hash = await wallet.sendTransaction({ chain: null, data: encodeDeployData({ abi, bytecode }) });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  if (!contractAddress) throw new Error("the part was not deployed");
  return contractAddress;
}
