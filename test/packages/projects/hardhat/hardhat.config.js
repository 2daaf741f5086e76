// npm's compiler, which Hardhat runs instead of downloading one.
import { createRequire } from "node:module";

const path = createRequire(import.meta.url).resolve("solc/soljson.js");
const config = { solidity: { version: "0.8.37", path, settings: { evmVersion: "prague" } } };
// biome-ignore lint/style/noDefaultExport: Hardhat reads it
export default config;
