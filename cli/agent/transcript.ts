/** `assay agent transcript show|verify` and `assay agent replay` */
import { join } from "node:path";
import type { Command } from "commander";
import { createEngineRegistry } from "../../agent/executor/engine/engine.ts";
import { EXECUTOR_SCHEMA, ExecutorStore } from "../../agent/executor/node/store.ts";
import { type Replay, replayTranscript } from "../../agent/executor/replay.ts";
import {
  parseSignedTranscript,
  type SignedTranscript,
  transcriptProblems,
} from "../../agent/executor/transcript.ts";
import { BaseError } from "../../base/errors.ts";
import { CHAIN_SETTINGS, loadConfig } from "../../protocol/service/config.ts";
import { JOURNAL_SCHEMA, openDatabase } from "../../protocol/service/journal/database.ts";
import { withSettings } from "../chain.ts";
import { readBytes } from "../model/resolve.ts";
import { printResult, withJson } from "../output.ts";
import { closeModels, MODEL_SETTINGS, modelConfig, openModels } from "./models.ts";

const DATA = { data: CHAIN_SETTINGS.data };

export function addTranscriptCommands(agent: Command): void {
  const transcript = agent.command("transcript").description("signed records of iterations");
  const show = transcript
    .command("show [hash]")
    .description("list the transcripts of an executor's data folder, or print one; --json gives it whole");
  withJson(withSettings(show, DATA)).action(
    async (hash: string | undefined, _flags: object, self: Command) => {
      const { data } = loadConfig(DATA, { flags: self.optsWithGlobals(), env: process.env });
      const found = transcriptsIn(data, hash);
      if (hash === undefined) return printResult(self, { transcripts: found }, found.map(lineOf));
      const [one] = found;
      if (one === undefined) throw unknown(hash);
      printResult(self, one, describe(one));
    },
  );
  const verify = transcript
    .command("verify <file>")
    .description("check hash, signature, prompt and result of a transcript");
  withJson(verify).action(async (file: string, _flags: object, self: Command) => {
    const signed = readTranscript(file);
    const problems = await transcriptProblems(signed, createEngineRegistry());
    const isSound = problems.length === 0;
    const { executor } = signed.transcript;
    printResult(self, { hash: signed.hash, executor, valid: isSound, problems }, [
      isSound
        ? `${signed.hash} is signed by ${executor} and holds together; what the model wrote is attested, not proven`
        : `${signed.hash} is NOT VALID:`,
      ...problems,
    ]);
    if (!isSound) process.exitCode = 1;
  });
  const replay = agent
    .command("replay <file>")
    .description("ask the model of a transcript again and say where it differs");
  withJson(withSettings(withSettings(replay, DATA), MODEL_SETTINGS)).action(
    async (file: string, _flags: object, self: Command) => {
      const signed = readTranscript(file);
      const { transcript: recorded, hash } = signed;
      const engines = createEngineRegistry();
      const problems = await transcriptProblems(signed, engines);
      const models = await openModels(modelConfig(self));
      try {
        const result = await replayTranscript(recorded, models.get(recorded.modelId), engines);
        printResult(self, { hash, ...result, problems }, [
          ...problems.map((problem) => `NOT VALID: ${problem}`),
          result.sameModel
            ? "the same model and parameters"
            : "ANOTHER model or other parameters than in the transcript",
          result.sameCompletion
            ? "the same completion"
            : `another completion, from character ${result.differsAt ?? 0} on`,
          result.sameChoice ? "the same choice" : "another choice",
          verdictLine(result),
        ]);
        if (result.verdict === "FALSE" || problems.length > 0) process.exitCode = 1;
      } finally {
        await closeModels(models);
      }
    },
  );
}

function verdictLine({ verdict, reason }: Replay): string {
  switch (verdict) {
    case "REPEATED":
      return "the transcript's exact model wrote this, as anybody who has it can repeat; that it was used is attested";
    case "FALSE":
      return `the transcript is FALSE: ${reason}; whoever signed it changed a completion, or asked another model`;
    case "UNCHECKED":
      return `NOT CHECKED: ${reason}`;
    case "NOT_EXACT":
      return "the transcript's model is not exact: no fraud follows from another completion";
  }
}

const readTranscript = (file: string): SignedTranscript =>
  parseSignedTranscript(Buffer.from(readBytes(file)).toString("utf8"));

function transcriptsIn(folder: string, hash: string | undefined): SignedTranscript[] {
  const db = openDatabase(join(folder, "assay.sqlite"), [JOURNAL_SCHEMA, EXECUTOR_SCHEMA]);
  try {
    return new ExecutorStore(db).transcripts(hash);
  } finally {
    db.close();
  }
}

const lineOf = ({ hash, transcript: { agent, runId, iteration, result } }: SignedTranscript): string =>
  `${hash}  agent ${agent} run ${runId} iteration ${iteration}: ${result.isFinalAnswer ? "answer" : "tool"}`;

function describe({ hash, transcript }: SignedTranscript): string[] {
  const { agent, runId, iteration, executor, modelId, model, attempts, prompt } = transcript;
  return [
    `${hash}`,
    `agent ${agent}, run ${runId}, iteration ${iteration}, signed by ${executor}`,
    `model ${modelId}: ${Object.entries(model)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}`,
    "",
    prompt,
    "",
    ...attempts.flatMap(({ completion, error }, index) => [
      `-- completion ${index + 1} of ${attempts.length}${error === undefined ? "" : `, not used: ${error}`}`,
      completion,
    ]),
  ];
}

const unknown = (hash: string): BaseError =>
  new BaseError({
    code: "TRANSCRIPT_UNKNOWN",
    shortMessage: `There is no transcript ${hash} in this data folder.`,
    nextStep: "`assay agent transcript show` lists those that there are.",
  });
