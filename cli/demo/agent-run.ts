/** What happens in a run of a callback agent, told line by line until it is over. */
import { BaseError } from "../../base/errors.ts";
import type { CallbackDemo } from "./callback-agent.ts";

const LIMIT_MS = 180_000;

type RunEvent = Awaited<ReturnType<CallbackDemo["events"]>>[number];

/** Logs what happens until the run is over. @param executor what the lines call who decides
 *  @throws BaseError DEMO_TIMED_OUT */
export async function followRun(
  demo: CallbackDemo,
  runId: bigint,
  executor: string,
  log: (line: string) => void,
): Promise<void> {
  const startedMs = Date.now();
  for (let printed = 0; ; ) {
    const events = await demo.events(runId);
    for (const event of events.slice(printed)) {
      const line = lineOf(event, executor);
      if (line !== undefined) log(line);
    }
    printed = events.length;
    const answer = await demo.answer(runId);
    if (answer !== undefined) return log(`the client received: ${answer}`);
    if (events.some(({ eventName }) => eventName === "RunFailed")) return log("the run failed");
    if (Date.now() - startedMs > LIMIT_MS) {
      throw new BaseError({
        code: "DEMO_TIMED_OUT",
        shortMessage: `After ${LIMIT_MS / 1_000} s the run is not over.`,
        nextStep: "Run it again on a machine that is less busy.",
      });
    }
    await new Promise((wake) => setTimeout(wake, 200));
  }
}

function lineOf({ eventName, args }: RunEvent, executor: string): string | undefined {
  switch (eventName) {
    case "IterationRequested":
      return `iteration ${args.iteration} is asked of ${executor}`;
    case "IterationPosted":
      return `${executor} posts it, for which stands ${args.transcriptHash.slice(0, 18)}…`;
    case "ToolChosen":
      return `  ${args.agentReasoning.replaceAll("\n", "\n           ")}`;
    case "ToolPending":
      return "the tool has filed a request with Assay; its result comes when it is final";
    case "ToolAnswered":
      return `the tool says: ${args.result}`;
    case "AgentRunResult":
      return `final answer: ${args.answer}`;
    default:
      return undefined;
  }
}
