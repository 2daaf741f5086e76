import { graphlib, layout } from "@dagrejs/dagre";
import { useMemo } from "react";
import type { StepSheet } from "../../verify/steps.ts";

const NODE = { width: 148, height: 44 };
const GAP = { ranksep: 26, nodesep: 18, marginx: 8, marginy: 8 };

interface GraphProps {
  readonly steps: readonly StepSheet[];
  readonly chosen: number;
  readonly onChoose: (step: number) => void;
}

/** Steps as boxes below those whose tensors they read. */
export function Graph({ steps, chosen, onChoose }: GraphProps) {
  const drawn = useMemo(() => {
    const graph = new graphlib.Graph();
    graph.setGraph({ rankdir: "TB", ...GAP });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const { index } of steps) graph.setNode(`${index}`, { ...NODE });
    for (const { index, after } of steps) for (const before of after) graph.setEdge(`${before}`, `${index}`);
    layout(graph);
    return graph;
  }, [steps]);
  const { width = 0, height = 0 } = drawn.graph();
  return (
    <div className="graph" style={{ width, height }}>
      <svg width={width} height={height} aria-hidden="true">
        {drawn.edges().map((edge) => (
          <polyline
            key={`${edge.v}-${edge.w}`}
            className={`${chosen}` === edge.w ? "edge is-chosen" : "edge"}
            points={drawn
              .edge(edge)
              .points.map(({ x, y }: { x: number; y: number }) => `${x},${y}`)
              .join(" ")}
          />
        ))}
      </svg>
      <ol>
        {steps.map(({ index, opcode, type, dims }) => {
          const { x, y } = drawn.node(`${index}`);
          return (
            <li key={index} style={{ left: x - NODE.width / 2, top: y - NODE.height / 2, ...NODE }}>
              <button
                type="button"
                className={`step-box op-${opcode}`}
                aria-pressed={index === chosen}
                onClick={({ currentTarget }) => {
                  onChoose(index);
                  // The graph may be wider than its place: what is looked at stays in it.
                  currentTarget.scrollIntoView({ block: "nearest", inline: "center" });
                }}
              >
                <strong>
                  {index} {opcode}
                </strong>
                <span className="mono">
                  {type}[{dims.join(", ")}]
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
