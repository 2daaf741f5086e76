import type { Operator } from "../../../api/types.ts";
import { ClaimBadge } from "../../parts/badges.tsx";
import { Id } from "../../parts/id.tsx";
import { ModelName } from "../../parts/model-name.tsx";
import { Empty } from "../../parts/states.tsx";
import { Countdown } from "../../parts/time.tsx";

type Clock = Operator["clocks"][number];

/** Claims that are not over, the nearest deadline first. */
export function Clocks({ clocks }: { readonly clocks: readonly Clock[] }) {
  if (clocks.length === 0)
    return (
      <Empty title="No clock runs">None of your accounts has a claim or a ticket that is not over.</Empty>
    );
  return (
    <div className="scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">time left</th>
            <th scope="col">what ends</th>
            <th scope="col">claim</th>
            <th scope="col">model</th>
            <th scope="col">yours as</th>
          </tr>
        </thead>
        <tbody>
          {clocks.map((clock) => (
            <tr
              key={`${clock.account} ${clock.claim.claimId}`}
              className={clock.isOwnMove ? "is-own-move" : ""}
            >
              <td>
                <Countdown until={clock.deadline.at} />
              </td>
              <td>
                {clock.isOwnMove && <strong>your move: </strong>}
                {clock.deadline.text}
              </td>
              <td>
                <span className="row">
                  <Id id={clock.claim.claimId} to="claim" /> <ClaimBadge claim={clock.claim} />
                </span>
              </td>
              <td>
                <ModelName of={clock.claim} />
              </td>
              <td>
                {clock.role} <Id id={clock.account} to="account" plain />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
