/** Debian's Chromium, headless, with nothing that reaches beyond this machine. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where it is looked for; CHROMIUM names another. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const hasChromium = (): boolean => existsSync(CHROMIUM);

export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
