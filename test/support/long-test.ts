import { type TestContext, test } from "vitest";
import { scaled } from "./scale.ts";

/** A test that takes a minute or more, and whose subject shorter ones touch on every change: played in
 *  `npm run test:nightly`. */
export const longTest = scaled<(name: string, body: (context: TestContext) => void | Promise<void>) => void>(
  () => {},
  test,
);
