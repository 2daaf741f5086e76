/** URLs of nodes in one setting, separated by commas. */
export const rpcUrlsOf = (rpcUrl: string): string[] => rpcUrl.split(",").map((url) => url.trim());
