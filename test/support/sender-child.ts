/** A process that sends one request and prints the result: for tests that kill it.
 *  Arguments: RPC URL, deployment file, data folder, file with request and input. Key in ASSAY_KEY. */
import { readFileSync } from "node:fs";
import type { Hex } from "viem";
import { loadAccount } from "../../protocol/chain/account.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { readDeployment } from "../../protocol/chain/deployment-file.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import type { Request } from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";

const [rpcUrl = "", deploymentFile = "", folder = "", orderFile = ""] = process.argv.slice(2);
const account = loadAccount({}, process.env);
if (account === undefined) throw new Error("no key");
const chain = requireAccount(await connect({ rpcUrl, deployment: readDeployment(deploymentFile), account }));
const { sender, close } = openDataFolder(folder, chain, [], { pollIntervalMs: 20 });
const order = JSON.parse(readFileSync(orderFile, "utf8")) as { request: Request; input: Hex };
const amounts = ["fee", "deliveryFee", "minBond"] as const;
const numbers = Object.fromEntries(amounts.map((name) => [name, BigInt(order.request[name])]));
const request = { ...order.request, ...numbers } as Request;
const result = await sender.send(new Actions(chain.game).request(request, order.input));
await close();
process.stdout.write(`${result.status}\n`);
