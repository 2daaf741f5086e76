/** Buys an answer in milliseconds, runs some of the answers again, and hands a wrong one to challengers. */
import { askSigned, askSignedMany, openModel, report, spotCheck } from "assay/sdk";
import { openChain, readArguments, readManifest } from "./setup.ts";

const [rpcUrl = "", deployment = "", text = "", prover = "", challenger = ""] = readArguments(
  "rpc url",
  "deployment file",
  "text",
  "prover url",
  "challenger url",
);

const chain = await openChain(rpcUrl, deployment);
const model = await openModel(chain, readManifest("sentiment"));

const taken = await askSigned(chain, model, { text }, { url: prover });
console.log(`until ${taken.end} the prover stands for ${taken.meaning?.text}`, taken.values);
const check = await spotCheck(chain, model, taken, { probability: 1 });
if (!check.isChecked) console.log("not run again");
else if (check.isRight) console.log("run again: right");
else for (const { answer } of await report(chain, taken, [challenger])) console.log(`reported: ${answer}`);

const all = await askSignedMany(chain, model, [{ text }, { text: "Shares fall" }], { url: prover });
console.log(`${all.length} answers: ${all.map(({ meaning }) => meaning?.text).join("; ")}`);
