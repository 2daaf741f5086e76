// The arrows between folders: inference <- protocol <- prover, challenger, agent <- cli.
const OURS = "^(inference|protocol|prover|challenger|agent|cli|tools|test|bench)/";

/** A folder may import only itself, the named folders and packages. */
function only(folder, ...allowed) {
  return {
    name: `${folder}-imports-only-${allowed.join("-") || "itself"}`,
    severity: "error",
    from: { path: `^${folder}/` },
    to: { path: OURS, pathNot: `^(${[folder, ...allowed].join("|")})/` },
  };
}

module.exports = {
  forbidden: [
    only("inference"),
    only("protocol", "inference"),
    only("prover", "protocol", "inference"),
    only("challenger", "protocol", "inference"),
    only("agent", "protocol", "inference"),
    only("cli", "agent", "prover", "challenger", "protocol", "inference", "tools"),
    only("tools", "protocol", "inference"),
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-dev-packages-at-run-time",
      severity: "error",
      from: { path: "^(inference|protocol|prover|challenger|agent|cli)/" },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "^node_modules/@types/",
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)build/|\\.sol$" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
