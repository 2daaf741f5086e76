/** All directed games of promises, by name. */
import { BATCH_SCENARIOS } from "./batch-scenarios.ts";
import type { Scenario } from "./scenario-parts.ts";
import { SIGNED_SCENARIOS } from "./signed-scenarios.ts";

export const SCENARIOS: Readonly<Record<string, Scenario>> = { ...SIGNED_SCENARIOS, ...BATCH_SCENARIOS };
