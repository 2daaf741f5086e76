import { generatePrivateKey } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { decryptKeystore, encryptKeystore } from "../../../protocol/chain/keystore.ts";
import { fileOf, PASSWORD, SECRET, VECTORS } from "../../support/keystore-vectors.ts";

describe("decryptKeystore", () => {
  test("default: the standard's vector of pbkdf2", () => {
    expect(decryptKeystore(fileOf(VECTORS.pbkdf2), PASSWORD, "key.json")).toBe(SECRET);
  });

  test("error: the standard's vector of scrypt, whose n is above what RFC 7914 allows for r = 1", () => {
    expect(() => decryptKeystore(fileOf(VECTORS.scrypt), PASSWORD, "key.json")).toThrow(
      expect.objectContaining({
        code: "KEYSTORE_UNSUPPORTED",
        shortMessage: "key.json has scrypt with n = 262144 and r = 1; n must be below 2^16.",
      }),
    );
  });

  test("behavior: what it writes, it reads; a new salt each time", () => {
    const key = generatePrivateKey();
    const [one, other] = [encryptKeystore(key, "a", 1_024), encryptKeystore(key, "a", 1_024)];
    expect([decryptKeystore(one, "a", "one"), decryptKeystore(other, "a", "other")]).toEqual([key, key]);
    expect(one).not.toBe(other);
    expect(one).not.toContain(key.slice(2));
  });

  test("error: a wrong password, a bit turned in what is encrypted", () => {
    const { pbkdf2 } = VECTORS;
    const wrong = { name: "BaseError", code: "KEYSTORE_PASSWORD_WRONG" };
    const read = (crypto: object, password = PASSWORD) => {
      try {
        return decryptKeystore(fileOf(crypto), password, "key.json");
      } catch (error) {
        return error;
      }
    };
    expect(read(pbkdf2, "testpasswore")).toMatchObject(wrong);
    const ciphertext = pbkdf2.ciphertext.replace(/^5/, "4");
    expect(read({ ...pbkdf2, ciphertext })).toMatchObject(wrong);
  });

  test.each<[string, string]>([
    ["no JSON", "{"],
    ["another version", JSON.stringify({ version: 1, crypto: VECTORS.pbkdf2 })],
    ["another cipher", fileOf({ ...VECTORS.pbkdf2, cipher: "aes-128-cbc" })],
    [
      "parameters that would take hours",
      fileOf({ ...VECTORS.pbkdf2, kdfparams: { ...VECTORS.pbkdf2.kdfparams, c: 1e12 } }),
    ],
  ])("error: %s", (_what, text) => {
    expect(() => decryptKeystore(text, PASSWORD, "key.json")).toThrow(
      expect.objectContaining({ code: "KEYSTORE_INVALID" }),
    );
  });
});
