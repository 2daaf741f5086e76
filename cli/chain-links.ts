/** Addresses and transactions with the page of a public block explorer behind them, where one is known. */

/** @param link as addressLink and transactionLink give it */
export const linked = (subject: string, link: string | undefined): string =>
  link === undefined ? subject : `${subject} ${link}`;
