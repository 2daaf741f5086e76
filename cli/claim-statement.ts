/** `assay claim statement`: a claim as a statement of an agent, for a validator of ERC-8004. */
import type { Command } from "commander";
import { isAddress } from "viem";
import { validationStatement } from "../agent/sdk/validation.ts";
import { readClaim } from "../protocol/chain/past.ts";
import { chainConfig, openChain, withChain } from "./chain.ts";
import { claimIdOf } from "./claim-id.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";

interface Options {
  readonly validator: string;
  readonly agent: string;
  readonly salt: string;
  readonly uri?: string;
}

export function addStatementCommand(claim: Command): void {
  const command = claim
    .command("statement")
    .description("what an agent of ERC-8004 has validated about a claim, and the calls that ask and answer")
    .argument("<claim>", "its id")
    .requiredOption("--validator <address>", "an Erc8004Validator of this deployment")
    .requiredOption("--agent <number>", "the agent's number in the identity registry")
    .option("--salt <number>", "another one where somebody filed the statement's hash first", "0")
    .option("--uri <uri>", "where the statement will stand; prints the call that files it there");
  withJson(withChain(command)).action(printStatement);
}

async function printStatement(id: string, options: Options, self: Command): Promise<void> {
  const { validator, uri } = options;
  if (!isAddress(validator)) refuseArgument("--validator", validator, "an address");
  const [agentId, salt] = [numberOf("--agent", options.agent), numberOf("--salt", options.salt)];
  const claimId = claimIdOf(id);
  const chain = await openChain(chainConfig(self));
  const { claim, request } = await readClaim(chain, claimId);
  const built = await validationStatement(chain, {
    validator,
    agentId,
    salt,
    request: request.request,
    claim: claim.claim,
    output: claim.output,
  });
  const { requestCall, ...plain } = built;
  const shown = { ...plain, ...(uri === undefined ? {} : { requestCall: requestCall(uri) }) };
  printResult(self, shown, [
    `Request hash ${shown.requestHash}${shown.isFiled ? ", filed already" : ""}`,
    `Statement    ${shown.statement}`,
    ...(shown.requestCall === undefined
      ? [`File it      --uri prints the call to the registry ${shown.validationRegistry}`]
      : [`File it      by the agent's owner, to ${shown.requestCall.to}: ${shown.requestCall.data}`]),
    `Answer       by anybody, to ${shown.respondCall.to}: ${shown.respondCall.data}`,
  ]);
}

/** @throws BaseError ARGUMENT_INVALID */
function numberOf(name: string, text: string): bigint {
  if (!/^\d{1,78}$/.test(text) || BigInt(text) >= 2n ** 256n)
    refuseArgument(name, text, "a whole number below 2^256");
  return BigInt(text);
}
