import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { isBaseError } from "../../../../base/errors.ts";
import { ApiFailure } from "../../data/api-failure.ts";
import { overviewQuery } from "../../data/queries.ts";
import { deployableOf } from "../../import/client.ts";
import type { ModelSheet } from "../../import/forms.ts";
import { Amount } from "../../parts/amount.tsx";
import { Id } from "../../parts/id.tsx";
import { Outside } from "../../parts/outside.tsx";
import { Answered, Failure } from "../../parts/states.tsx";
import type { DeployProgress } from "../../wallet/deploy.ts";
import { useWallets, type Wallet } from "../../wallet/discover.ts";
import type { WalletParts } from "../../wallet/sender.ts";
import { wishesOf } from "./wishes.ts";

const GROUPS = new Intl.NumberFormat("en");

/** An error with its next step, as pages show it. */
const shown = (error: Error): Error =>
  isBaseError(error) ? new ApiFailure(error.code, error.shortMessage, error.nextStep ?? "") : error;

/** Puts the model on the chain by a wallet of this browser. The explorer's server has no part in it. */
export function Deploy({ model }: { readonly model: ModelSheet }) {
  const [wallet, setWallet] = useState<WalletParts>();
  return (
    <section className="sheet stack" aria-labelledby="deploy">
      <h2 id="deploy">Put it on the chain</h2>
      <p>
        Your wallet registers the model{model.lanes.includes("EXECUTION") && " and publishes its weights"}.
        What is on the chain already is not paid for again: you can stop and go on at any time.
      </p>
      {wallet === undefined ? (
        <Connect onConnected={setWallet} />
      ) : (
        // Another model is another deployment.
        <Run key={model.modelId} model={model} wallet={wallet} onLeave={() => setWallet(undefined)} />
      )}
    </section>
  );
}

function Connect({ onConnected }: { readonly onConnected: (wallet: WalletParts) => void }) {
  const wallets = useWallets();
  const queries = useQueryClient();
  const connect = useMutation({
    mutationFn: async (wallet: Wallet) => {
      const { connectWallet } = await import("../../wallet/connect.ts");
      return connectWallet(wallet, await queries.ensureQueryData(overviewQuery));
    },
    onSuccess: onConnected,
  });
  if (wallets.length === 0) {
    return (
      <p className="notice tone-wait" data-state="no-wallet">
        <strong>This browser has no wallet</strong>
        <span>
          Install one that stands in the page (EIP-1193, EIP-6963) and load the page again; or download the
          folder, and use <code>assay model register</code> and <code>assay model publish</code>.
        </span>
      </p>
    );
  }
  return (
    <>
      <div className="row">
        {wallets.map((wallet) => (
          <button
            key={wallet.id}
            type="button"
            className="button first"
            disabled={connect.isPending}
            onClick={() => connect.mutate(wallet)}
          >
            Connect <Outside text={wallet.name} />
          </button>
        ))}
        {connect.isPending && <span className="soft">Agree in the wallet…</span>}
      </div>
      {connect.error !== null && <Failure error={shown(connect.error)} />}
    </>
  );
}

interface RunProps {
  readonly model: ModelSheet;
  readonly wallet: WalletParts;
  readonly onLeave: () => void;
}

function Run({ model: { modelId }, wallet, onLeave }: RunProps) {
  const [progress, setProgress] = useState<DeployProgress>();
  const deployable = useQuery({
    queryKey: ["files", "deployable", modelId],
    queryFn: deployableOf,
    retry: false,
    gcTime: 0,
  });
  const overview = useQuery(overviewQuery);
  const run = useMutation({
    mutationFn: async () => {
      const { deploy } = await import("../../wallet/deploy.ts");
      return deploy(wallet, await deployableOf(), setProgress);
    },
  });
  return (
    <>
      <p className="row small">
        <span>
          By the account <Id id={wallet.account} what="account" />
        </span>
        {!run.isPending && (
          <button type="button" className="button" onClick={onLeave}>
            Another wallet
          </button>
        )}
      </p>
      <Answered of={deployable}>
        {(ready) => (
          <p className="small soft">
            About {ready.transactions} transactions
            {ready.publication !== undefined && (
              <>
                , of which the weights take some {GROUPS.format(ready.publication.gas)} gas
                {overview.data !== undefined && (
                  <>
                    {" "}
                    (<Amount wei={BigInt(ready.publication.gas) * wishesOf(overview.data, 0n).gasPrice} />)
                  </>
                )}
              </>
            )}
            . The wallet shows what each costs before you sign it.
          </p>
        )}
      </Answered>
      {progress !== undefined && run.data === undefined && (
        <Bar progress={progress} isRunning={run.isPending} />
      )}
      {run.error !== null && <Failure error={shown(run.error)} />}
      {run.data === undefined ? (
        <p>
          <button
            type="button"
            className="button first"
            disabled={run.isPending || deployable.data === undefined}
            onClick={() => run.mutate()}
          >
            {run.isPending ? "Under way…" : progress === undefined ? "Register and publish" : "Go on"}
          </button>
        </p>
      ) : (
        <div className="notice tone-good" role="status" data-state="deployed">
          <strong>The model is on the chain</strong>
          <p>
            {run.data.transactions === 0
              ? "Everything was there before."
              : `${run.data.transactions} transactions, ${GROUPS.format(run.data.gasUsed)} gas.`}{" "}
            {run.data.isPublished && "The chain can run it now. "}
            <Link to="/models/$id" params={{ id: run.data.modelId }}>
              Its page
            </Link>
          </p>
        </div>
      )}
    </>
  );
}

function Bar({ progress, isRunning }: { readonly progress: DeployProgress; readonly isRunning: boolean }) {
  const { message, behind, all, waitsFor } = progress;
  return (
    <div className="stack near" aria-live="polite">
      <progress className="progress" max={all} value={behind} aria-label="Transactions that are behind" />
      <span className="small">
        {behind} of about {all}: <Outside text={message} />
        {isRunning && waitsFor === "wallet" && <strong> · sign it in the wallet</strong>}
        {isRunning && waitsFor === "block" && " · waiting for a block"}
      </span>
    </div>
  );
}
