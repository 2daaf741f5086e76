import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { sampled } from "../support/scale.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Steps of models/credit-trees: 5 has the ids of the table's rows, 6 what keeps the applicant from each leaf, 7 the
 *  leaves that are missed, 8 their sum. */
const LIES = sampled(["element:5", "element:6", "element:7", "element:8", "output"], 2);

/** The application of a bad debtor. */
const FACTS = [0, 60, 0, 0, 18000, 0, 0, 4, 1, 1, 3, 19, 0, 0, 1, 0, 2, 0];

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["credit-trees"], answerSeconds: 120 });
  const provers = LIES.map((lie, i) => system.cheat(lie.replace(":", "-"), ROLES.cheat + i, lie));
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
  const ready = provers.map((daemon) => daemon.logged("prover is up"));
  await Promise.all([...ready, challenger.logged("challenger is up")]);
});

afterAll(() => system.stop());

describe("a prover that lies about credit-trees", () => {
  it.each(LIES.map((lie, index) => [lie, index] as const))(
    "behavior: %s is convicted",
    async (lie, index) => {
      const model = system.model("credit-trees");
      // A number in the unread facts makes each request another one.
      const int16s = [...FACTS.slice(0, 17), index];
      const calldata = encodeInput(model.model.program, model.selector, { codec: "int16s", int16s });
      const right = toHex(execute(prepare(model.model, model.selector), calldata));
      const prover = systemAccount(ROLES.cheat + index).address;
      const { requestId } = await system.ask({ model, calldata, prover });
      const { claimId, output } = await system.events.until(
        "Claimed",
        (event) => event.requestId === requestId,
      );
      expect(output).not.toBe(right);
      const fell = await system.events.until("Fell", (fall) => fall.claimId === claimId);
      expect(FALL_REASONS[fell.reason]).toBe(lie === "output" ? "OUTPUT" : "ELEMENT");
    },
  );
});
