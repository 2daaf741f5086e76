import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { AMOUNT_FORM, parseAmount } from "../../../../base/amounts.ts";
import type { Lane } from "../../../../inference/manifest/assay.ts";
import type { PlanRow } from "../../../../protocol/chain/plan/plan.ts";
import { presetOf } from "../../../../protocol/chain/presets.ts";
import type { Overview } from "../../../api/types.ts";
import { overviewQuery } from "../../data/queries.ts";
import { planOf } from "../../import/client.ts";
import type { ModelSheet } from "../../import/forms.ts";
import { Amount } from "../../parts/amount.tsx";
import { LaneMark } from "../../parts/badges.tsx";
import { Hint } from "../../parts/hint.tsx";
import { Outside } from "../../parts/outside.tsx";
import { Answered } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { durationText } from "../../parts/time.tsx";
import { wishesOf } from "./wishes.ts";

const GROUPS = new Intl.NumberFormat("en");
/** What a method is called where a lane has several. */
const METHODS: Readonly<Record<string, string>> = {
  execution: "interpreted",
  "execution-compiled": "compiled layers",
  groth16: "Groth16",
  bond: "a bonded claim",
};

interface LanesProps {
  readonly model: ModelSheet;
  readonly hasKey: boolean;
  readonly onLanes: (lanes: readonly Lane[]) => void;
}

/** What a result would cost in each lane on this deployment, and which lanes the model offers. */
export function Lanes({ model, hasKey, onLanes }: LanesProps) {
  const overview = useQuery(overviewQuery);
  return (
    <section className="sheet stack" aria-labelledby="lanes">
      <h2 id="lanes">
        What a result costs, by <Term word="lane">lane</Term>
      </h2>
      <Answered of={overview}>
        {(data) => <Priced overview={data} model={model} hasKey={hasKey} onLanes={onLanes} />}
      </Answered>
    </section>
  );
}

function Priced({ overview, model, hasKey, onLanes }: LanesProps & { readonly overview: Overview }) {
  const [value, setValue] = useState("0");
  const stake = parseAmount(value);
  const wishes = wishesOf(overview, stake ?? 0n);
  const plan = useQuery({
    queryKey: ["files", "plan", model.modelId, `${wishes.gasPrice} ${wishes.value}`],
    queryFn: () => planOf(wishes),
    retry: false,
  });
  const hasDataFee = (presetOf(overview.chainId)?.dataFee ?? "none") !== "none";
  return (
    <>
      <Offer lanes={model.lanes} hasKey={hasKey} onLanes={onLanes} />
      <label className="field stake">
        <span>What is at stake on one output, such as 1ether: a bond must outweigh it</span>
        <input
          className="input"
          value={value}
          aria-invalid={stake === undefined}
          onChange={(event) => setValue(event.target.value)}
        />
        {stake === undefined && <span className="wrong">It {AMOUNT_FORM}.</span>}
      </label>
      <Answered of={plan}>
        {({ rows }) => <Rows rows={rows.filter(({ method }) => method !== "ezkl")} />}
      </Answered>
      <p className="small soft">
        Estimated from the program at <Amount wei={wishes.gasPrice} /> a unit of gas
        {overview.gasPrice === undefined && ", the deployment's floor"}, a window of{" "}
        {durationText(wishes.window)} and blocks of {wishes.blockSeconds} s.
        {hasDataFee && " This chain also asks for data, which is not in these figures."}
      </p>
    </>
  );
}

const LANES: readonly Lane[] = ["EXECUTION", "PROOF", "BOND"];

function Offer({ lanes, hasKey, onLanes }: Omit<LanesProps, "model"> & { readonly lanes: readonly Lane[] }) {
  return (
    <fieldset className="row offer">
      <legend className="small soft">The model offers</legend>
      {LANES.map((lane) => {
        const isOn = lanes.includes(lane);
        const isFixed = (isOn && lanes.length === 1) || (lane === "PROOF" && !hasKey);
        return (
          <label key={lane} className="switch">
            <input
              type="checkbox"
              checked={isOn}
              disabled={isFixed}
              onChange={() => onLanes(LANES.filter((one) => (one === lane ? !isOn : lanes.includes(one))))}
            />
            <LaneMark lane={lane} plain />
          </label>
        );
      })}
      {!hasKey && (
        <span className="small soft">
          PROOF needs a verification-key.bin beside the file (`assay proof setup`)
        </span>
      )}
    </fieldset>
  );
}

function Rows({ rows }: { readonly rows: readonly PlanRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section className="scroll" tabIndex={0} aria-label="Costs by lane">
      <table className="table">
        <thead>
          <tr>
            {["Lane", "A result", "Gas of it", "Gas once", "Final after", "Locked"].map((name, i) => (
              <th key={name} scope="col" className={i === 0 ? "" : "right"}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.method}>
              <th scope="row">
                <LaneMark lane={row.lane} /> <span className="small">{METHODS[row.method]}</span>
              </th>
              {row.available ? (
                <Costs row={row} />
              ) : (
                <td colSpan={5} className="small soft">
                  <Outside text={row.reason} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Costs({ row }: { readonly row: Extract<PlanRow, { available: true }> }) {
  const { costWei, estimate, secondsToFinality, lockedWei, lockedSeconds } = row;
  return (
    <>
      <td className="right">
        <Amount wei={costWei} />
      </td>
      <td className="right">{GROUPS.format(estimate.gasPerResult)}</td>
      <td className="right">{estimate.gasSetup === 0n ? "none" : GROUPS.format(estimate.gasSetup)}</td>
      <td className="right">{secondsToFinality === 0 ? "at once" : durationText(secondsToFinality)}</td>
      <td className="right">
        {lockedWei === 0n ? (
          "nothing"
        ) : (
          <Hint tip={`for ${durationText(lockedSeconds)}`}>
            <Amount wei={lockedWei} plain />
          </Hint>
        )}
      </td>
    </>
  );
}
