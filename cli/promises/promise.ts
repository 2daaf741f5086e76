/** `assay promise`: signed claims, from a file to their end. */
import type { Command } from "commander";
import type { Hex } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { iso } from "../../protocol/chain/describe.ts";
import { readClaim } from "../../protocol/chain/past.ts";
import { accept } from "../../protocol/chain/promises/accept.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { chainConfig, chainIdAt, openChain, withChain, withSettings } from "../chain.ts";
import { CHALLENGER_SETTINGS, openSetup } from "../challenger/machine.ts";
import { PROGRESS } from "../challenger/progress.ts";
import { claimIdOf } from "../claim-id.ts";
import { EXIT, printResult, refuseArgument, withJson } from "../output.ts";
import { hashArgument } from "../trust.ts";
import { actionsOn, addressArgument, carriedLine, carryOut, occasionOf, withDryRun } from "./carry-out.ts";
import { compareFile, readPresented } from "./presented-file.ts";
import { queueOf } from "./queue.ts";

export function addPromiseCommands(program: Command): void {
  const promise = program
    .command("promise")
    .description("signed claims: check one, open one that is wrong, follow it to its end");
  addVerify(promise);
  addOpen(promise);
  addQueue(promise);
  addClose(promise);
  addShow(promise);
}

const withFile = (command: Command): Command =>
  withSettings(
    withChain(command.argument("<file>", "JSON of a signed claim, as the prover answered it")),
    CHALLENGER_SETTINGS,
  );

function addVerify(promise: Command): void {
  const command = promise
    .command("verify")
    .description(
      `run a signed claim again and ask whether it binds; exit code ${EXIT.finding} if it is wrong or does not`,
    )
    .option("--least-seconds <number>", "that must be left to its end (default 0)");
  withJson(withFile(command)).action(
    async (path: string, options: { leastSeconds?: string }, self: Command) => {
      const text = options.leastSeconds ?? "0";
      if (!/^\d{1,6}$/.test(text)) refuseArgument("--least-seconds", text, "a whole number of seconds");
      const setup = await openSetup(self, PROGRESS);
      const file = readPresented(setup.chain, path);
      const [verdict, binding] = [
        await compareFile(setup, file),
        await accept(setup.chain, file.presented, Number(text)),
      ];
      const { claim } = file.presented;
      const result = { digest: file.digest, prover: claim.prover, modelId: claim.modelId, verdict, binding };
      printResult(self, result, [
        `Signed claim ${file.digest} by ${claim.prover}`,
        `  output  ${verdict.kind}`,
        ...(verdict.kind === "wrong" && verdict.honest ? [`  honest  ${verdict.honest}`] : []),
        binding.accepted
          ? `  binds   until ${iso(binding.end)}; opening it takes a deposit of ${formatAmount(binding.deposit)} for a bond of ${formatAmount(binding.bond)}`
          : `  does not bind: ${binding.reason}`,
      ]);
      if (verdict.kind === "wrong" || !binding.accepted) process.exitCode = EXIT.finding;
    },
  );
}

function addOpen(promise: Command): void {
  const command = promise
    .command("open")
    .description("run a signed claim again and, if its output is wrong, open it");
  withJson(withDryRun(withFile(command))).action(
    async (path: string, options: { dryRun?: boolean }, self: Command) => {
      const setup = await openSetup(self, PROGRESS);
      const file = readPresented(setup.chain, path);
      const verdict = await compareFile(setup, file);
      if (verdict.kind === "right") throw notWrong(file.digest);
      const { deposit } = await new PromiseStateReader(setup.chain).check(file.presented);
      const isDryRun = options.dryRun === true;
      const sent = await carryOut(setup.config, isDryRun, "open a signed claim", async (chain) =>
        // Room for a base fee that rises meanwhile; what is above comes back as credit.
        actionsOn(chain).open(file.presented, (deposit * 5n) / 4n),
      );
      const shown = isDryRun ? undefined : await stateOf(setup.chain, file.digest);
      printResult(self, { digest: file.digest, verdict, ...sent, ...shown }, [
        carriedLine(setup.chain.game.chainId, `Signed claim ${file.digest} is opened`, sent),
        ...(shown?.claimId === undefined
          ? []
          : [`It is claim ${shown.claimId}: \`assay challenger challenge ${shown.claimId}\` disputes it.`]),
        ...(shown?.status === "QUEUED"
          ? ["It waits in its prover's queue: `assay promise queue` shows it."]
          : []),
      ]);
    },
  );
}

function addQueue(promise: Command): void {
  const command = promise
    .command("queue")
    .description("the signed claims of a prover that wait for stake; --next opens the first")
    .argument("<prover>", "its address")
    .option("--next", "open the first of them, as anybody may once there is stake");
  withJson(withDryRun(withChain(command))).action(
    async (text: string, options: { next?: boolean; dryRun?: boolean }, self: Command) => {
      const prover = addressArgument("prover", text);
      const config = chainConfig(self);
      const { queue, account } = await queueOf(await openChain(config), prover);
      const [head] = queue;
      const sent =
        options.next === true
          ? await carryOut(config, options.dryRun === true, "open the first of a queue", async (chain) => {
              if (head === undefined) throw queueEmpty(prover);
              return actionsOn(chain).openNext(head, await occasionOf(chain));
            })
          : undefined;
      const homeWei = account.free + account.leaving;
      const entries = queue.map(({ digest, opener, depositWei, queuedAt }) => {
        return { digest, opener, depositWei, queuedAt };
      });
      printResult(self, { prover, homeWei, awayWei: account.away, queue: entries, ...sent }, [
        queue.length === 0
          ? `Nothing of ${prover} waits.`
          : `${queue.length} wait; at home are ${formatAmount(homeWei)}, away ${formatAmount(account.away)}`,
        ...entries.map(
          ({ digest, opener, queuedAt }) => `  ${digest} opened by ${opener} in block ${queuedAt}`,
        ),
        ...(sent === undefined
          ? []
          : [carriedLine(await chainIdAt(config), `${head?.digest} is opened`, sent)]),
      ]);
    },
  );
}

function addClose(promise: Command): void {
  const command = promise
    .command("close")
    .description("book the end of a claim that a promise became: its deposit, and its bond or the fall")
    .argument("<claim>", "its id");
  withJson(withDryRun(withChain(command))).action(
    async (text: string, options: { dryRun?: boolean }, self: Command) => {
      const id = claimIdOf(text);
      const config = chainConfig(self);
      const sent = await carryOut(config, options.dryRun === true, "close a claim", async (chain) => {
        const { claim, request } = await readClaim(chain, id);
        return actionsOn(chain).close(request.request, claim.claim);
      });
      printResult(self, { claimId: id, ...sent }, [
        carriedLine(await chainIdAt(config), `Claim ${id} is closed`, sent),
      ]);
    },
  );
}

function addShow(promise: Command): void {
  const command = promise
    .command("show")
    .description("state and events of a signed claim")
    .argument("<digest>", "its digest");
  withJson(withChain(command)).action(async (text: string, _options: object, self: Command) => {
    const chain = await openChain(chainConfig(self));
    const result = await stateOf(chain, hashArgument<Digest>("digest", text));
    printResult(self, result, [
      `Signed claim ${result.digest}: ${result.status}`,
      ...(result.claimId === undefined ? [] : [`  claim  ${result.claimId}`]),
      ...(result.opener === undefined
        ? []
        : [`  opened by ${result.opener}, who has ${formatAmount(result.depositWei)} on it`]),
      ...result.events.map(
        ({ event, block, transactionHash }) => `  block ${block}  ${event}  ${transactionHash}`,
      ),
    ]);
  });
}

async function stateOf(chain: Chain, digest: Digest) {
  const [{ status, shown, opener, deposit: depositWei }, events] = await Promise.all([
    new PromiseStateReader(chain).signed(digest),
    promiseHistory(chain, digest),
  ]);
  const opened = events.findLast((event) => event.name === "Opened");
  return {
    ...{ digest, status, shown, depositWei },
    ...(opener === undefined ? {} : { opener }),
    ...(opened === undefined ? {} : { claimId: opened.args.claimId as Hex }),
    events: events.map(({ name: event, block, transactionHash }) => {
      return { event, block: block.number, transactionHash };
    }),
  };
}

const notWrong = (digest: Digest) =>
  new BaseError({
    code: "CLAIM_NOT_WRONG",
    shortMessage: `The output of signed claim ${digest} is right: half of a deposit on it would be lost.`,
    nextStep: "Nothing is to be done.",
  });

const queueEmpty = (prover: string) =>
  new BaseError({
    code: "QUEUE_EMPTY",
    shortMessage: `Nothing of ${prover} waits for stake.`,
    nextStep: "Nothing is to be done.",
  });
