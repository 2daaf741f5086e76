/** A process that signs without end and prints each digest once it has it, for tests that kill it. */
import { writeSync } from "node:fs";
import { toHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import { Signer } from "../../../prover/promises/signing/signer.ts";
import { draftOf, SIGNER_KEY, SIGNER_OWNER } from "./signing-drafts.ts";

const CALLERS = 16;
const [path = ""] = process.argv.slice(2);
const signer = await Signer.open({ path, key: SIGNER_KEY, owner: SIGNER_OWNER }, SILENT);
let count = 0;
await Promise.all(
  Array.from({ length: CALLERS }, async () => {
    for (;;) {
      const { digest } = await signer.sign(draftOf(count++));
      writeSync(1, `${toHex(digest)}\n`);
    }
  }),
);
