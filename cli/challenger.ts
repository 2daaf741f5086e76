/** `assay challenger watch|dry-run|defend` */
import type { Command } from "commander";
import { MODES, type Mode } from "../challenger/options.ts";
import { DATABASE_SETTINGS } from "../protocol/service/config.ts";
import { besideExplorer } from "./beside-explorer.ts";
import { callerLimits } from "./caller-limits.ts";
import { withChain, withSettings } from "./chain.ts";
import { CHALLENGER_SETTINGS, openSetup, runMachine } from "./challenger/machine.ts";
import { stopSignal } from "./daemon.ts";
import { configuredDatabase } from "./database-options.ts";
import { createLogger } from "./log.ts";
import { refuseArgument } from "./output.ts";

const DESCRIPTIONS: Readonly<Record<Mode, string>> = {
  watch: "re-execute claims and report wrong ones",
  "dry-run": "also simulate the transactions and print what they would put at risk",
  defend: "challenge and convict wrong claims",
};

/** A standby would keep what it was handed, and not open it. */
const INTAKE_STAYS = "absent beside --intake-port, whose signed claims stay in one folder";

/** @returns the command, for its other parts */
export function addChallengerCommand(program: Command): Command {
  const parent = program.command("challenger").description("re-execute claims and dispute wrong ones");
  for (const mode of MODES) {
    const command = parent.command(mode).description(DESCRIPTIONS[mode]);
    const acts = mode === "defend";
    if (acts) withSettings(command, DATABASE_SETTINGS);
    withSettings(withChain(command), CHALLENGER_SETTINGS).action(async (_options: object, self: Command) => {
      const database = acts ? configuredDatabase(self) : undefined;
      const log = createLogger("challenger", self);
      const signal = stopSignal(log);
      const setup = await openSetup(self, log);
      const { attentionSeconds, webhook, host, port, intakeHost, intakePort, explorerPort, shards } =
        setup.settings;
      const limits = callerLimits(setup.settings);
      if (acts && shards === "on" && database === undefined)
        refuseArgument("--shards", shards, "off without --database, by which the claims are divided");
      if (database !== undefined && intakePort !== undefined)
        refuseArgument("--database", database.name, INTAKE_STAYS);
      const own = {
        mode,
        ...(database === undefined ? {} : { database }),
        divides: acts && shards === "on",
        ...(attentionSeconds === 0 ? {} : { attentionMs: 1_000 * attentionSeconds }),
        ...(webhook === undefined ? {} : { webhook }),
        ...(port === undefined ? {} : { http: { host, port } }),
        ...(intakePort === undefined ? {} : { intake: { host: intakeHost, port: intakePort, limits } }),
      };
      await besideExplorer(self, explorerPort, log, () => runMachine(setup, own, signal));
    });
  }
  return parent;
}
