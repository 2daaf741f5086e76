/** Addresses and transactions with the explorer's page behind them, where one is known. */

/** @param link as addressLink and transactionLink give it */
export const linked = (subject: string, link: string | undefined): string =>
  link === undefined ? subject : `${subject} ${link}`;
