/** `assay key new | import | address` */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { BaseError } from "../base/errors.ts";
import { accountOf, loadAccount } from "../protocol/chain/account.ts";
import { encryptKeystore } from "../protocol/chain/keystore.ts";
import { CHAIN_SETTINGS, loadConfig } from "../protocol/service/config.ts";
import { withSettings } from "./chain.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";

const { keystore, keystorePasswordFile } = CHAIN_SETTINGS;
const KEY_SETTINGS = { keystore, keystorePasswordFile };

export function addKeyCommands(program: Command): void {
  const key = program.command("key").description("make and look at the key that signs");
  add(key.command("new").description("write a new key to an encrypted file"), () => generatePrivateKey());
  add(key.command("import").description("write the key in ASSAY_KEY to an encrypted file"), () =>
    keyFromEnvironment(),
  );
  const address = key.command("address").description("print the address of the configured key");
  withJson(withSettings(address, KEY_SETTINGS)).action((_options, command: Command) => {
    const account = loadAccount(configOf(command), process.env);
    if (account === undefined) throw keyMissing();
    printResult(command, { address: account.address }, [account.address]);
  });
}

function add(command: Command, makeKey: () => Hex): void {
  withJson(withSettings(command, KEY_SETTINGS)).action((_options, self: Command) => {
    const { keystore: path, keystorePasswordFile: passwordFile } = configOf(self);
    if (path === undefined) refuseArgument("--keystore", path, "the file to write");
    if (passwordFile === undefined) refuseArgument("--keystore-password-file", passwordFile, "a file");
    const made = makeKey();
    writeKeystore(path, encryptKeystore(made, readPassword(passwordFile)));
    const address = privateKeyToAddress(made);
    printResult(self, { address, keystore: path }, [`${address} is in ${path}`]);
  });
}

const configOf = (command: Command) =>
  loadConfig(KEY_SETTINGS, { flags: command.optsWithGlobals(), env: process.env });

function keyFromEnvironment(): Hex {
  const key = process.env.ASSAY_KEY;
  if (key === undefined || key === "") throw keyMissing();
  accountOf(key, "ASSAY_KEY");
  const trimmed = key.trim();
  return (trimmed.startsWith("0x") ? trimmed : `0x${trimmed}`) as Hex;
}

function readPassword(path: string): string {
  let password: string | undefined;
  try {
    password = readFileSync(path, "utf8").split(/\r?\n/, 1)[0];
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code;
    throw new BaseError({
      code: "KEYSTORE_UNREADABLE",
      shortMessage: `Cannot read the password file ${path}: ${why}.`,
      nextStep: "Write a long password into it, readable by you alone.",
      cause,
    });
  }
  if (password === undefined || password.length < 8) {
    throw new BaseError({
      code: "KEYSTORE_PASSWORD_WEAK",
      shortMessage: `The first line of ${path} has ${password?.length ?? 0} characters, a password needs at least 8.`,
      nextStep: "Write a longer password into it.",
    });
  }
  return password;
}

/** Never overwrites: a key that is gone is gone. */
function writeKeystore(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    throw new BaseError({
      code: exists ? "KEYSTORE_EXISTS" : "KEYSTORE_UNWRITABLE",
      shortMessage: exists ? `${path} exists already.` : `Cannot write ${path}: ${String(cause)}.`,
      nextStep: "Name another file with --keystore.",
      cause,
    });
  }
}

const keyMissing = () =>
  new BaseError({
    code: "KEY_MISSING",
    shortMessage: "No key is configured.",
    nextStep: "Set ASSAY_KEY, or --keystore with --keystore-password-file; `assay key new` makes one.",
  });
