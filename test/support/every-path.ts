/** Paths of everything that an explorer shows. */

const NONE = `0x${"00".repeat(32)}`;

interface Listed {
  readonly items: readonly Readonly<Record<string, string>>[];
  readonly next?: string;
}

/** A path of every route, of everything that there is; receipts and records of what has them. */
export async function everyPath(served: (path: string) => Promise<string>): Promise<string[]> {
  const listed = async (path: string) => JSON.parse(await served(path)) as Listed;
  const each = async (list: string, id: string) =>
    (await listed(`/v1/${list}?limit=100`)).items.map((item) => `/v1/${list}/${item[id]}`);
  const [models, requests, claims, accounts, batches, signed] = await Promise.all([
    each("models", "modelId"),
    each("requests", "requestId"),
    each("claims", "claimId"),
    each("accounts", "account"),
    each("batches", "batchId"),
    each("signed-claims", "digest"),
  ]);
  const events = await listed("/v1/events?limit=3");
  const finals = (await listed("/v1/requests?lane=EXECUTION")).items;
  const transactions = new Set(
    (await listed("/v1/events?limit=100")).items.map((event) => event.transaction),
  );
  const [account = ""] = accounts;
  return [
    ...["/v1/overview", "/healthz", "/v1/operator", "/v1/glossary", "/v1/models", "/v1/accounts"],
    ...["/v1/requests", "/v1/claims", "/v1/events?limit=100", `/v1/events?limit=3&before=${events.next}`],
    ...["/v1/claims?disputed=true", "/v1/claims?fall=ELEMENT&limit=2", "/v1/requests?state=OPEN"],
    ...["/v1/accounts?role=prover", `/v1/events?account=${account.split("/").at(-1)}`],
    ...["/v1/search?q=sentiment", `/v1/search?q=${claims[0]?.slice(11, 19)}`, "/v1/search?q=%20nothing"],
    // What no deployment has is refused.
    ...["/v1/batches", "/v1/signed-claims", `/v1/batches/${NONE}`, `/v1/batches/${NONE}/leaves`],
    ...[`/v1/batches/${NONE}/leaves/0`, `/v1/signed-claims/${NONE}`],
    ...models,
    ...requests,
    ...claims,
    ...claims.map((path) => `${path}/dispute`),
    ...accounts,
    ...[...batches, ...batches.map((path) => `${path}/leaves`), ...batches.map((path) => `${path}/leaves/0`)],
    ...signed,
    ...[...transactions].map((hash) => `/v1/transactions/${hash}`),
    ...finals.map(({ requestId }) => `/v1/requests/${requestId}/receipt`),
  ];
}
