/** Check of the contracts' code: a deployment file is only a list of addresses. */
import { isBaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { stands } from "../../protocol/chain/deploy/code.ts";
import { type Artifacts, asDeployed, DEPLOYED_CONTRACTS, layOut } from "../../protocol/chain/deploy/parts.ts";
import { loadArtifact } from "../artifacts.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Compares each contract with what its constructor makes of this version's artifact and the deployment's constants. */
export async function checkCode({ client, game, constants, deployment }: Chain): Promise<Finding[]> {
  const artifacts = artifactsIfAny();
  if (artifacts === undefined) {
    return [
      warn(
        "code",
        "the contracts' code is not looked at: they are not compiled here",
        "Run `npm run compile`, then `assay doctor` again.",
      ),
    ];
  }
  // Loaded by those who are asked for it: it takes a while.
  const { rehearse } = await import("../../protocol/chain/deploy/rehearsal.ts");
  const expected = await rehearse(layOut(artifacts, constants, asDeployed(deployment.contracts)));
  const findings = await Promise.all(
    expected.map(async (contract) => {
      try {
        if (await stands(client, game.chainId, contract)) return [];
        return [fail("code", `there is no ${contract.name} at ${contract.address}`, OTHER)];
      } catch (error) {
        if (isBaseError(error, "DEPLOY_CODE_DIFFERS")) return [fail("code", error.shortMessage, OTHER)];
        throw error;
      }
    }),
  );
  const different = findings.flat();
  return different.length > 0
    ? different
    : [ok("code", `all ${expected.length} contracts have the code of this version`)];
}

const OTHER =
  "Send nothing there: take a deployment file of this version from somebody whom you trust, or the program of the version that it was deployed by.";

function artifactsIfAny(): Artifacts | undefined {
  try {
    return Object.fromEntries(
      DEPLOYED_CONTRACTS.map((name) => [name, loadArtifact(name)]),
    ) as unknown as Artifacts;
  } catch (error) {
    if (isBaseError(error, "ARTIFACT_MISSING")) return undefined;
    throw error;
  }
}
