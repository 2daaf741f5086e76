import { type Address, getCreate2Address, type Hex, size, zeroHash } from "viem";

/** Where a contract stores these bytes as code. Source: verifier-contracts/libraries/DataContract.sol. */
export function dataAddress(from: Address, data: Hex): Address {
  const length = (size(data) + 1).toString(16).padStart(4, "0");
  const bytecode: Hex = `0x61${length}80600a3d393df300${data.slice(2)}`;
  return getCreate2Address({ from, salt: zeroHash, bytecode });
}
