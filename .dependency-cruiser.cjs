// The arrows between folders: base <- inference <- protocol <- prover, challenger, agent <- cli, and inside protocol/:
// rules <- chain <- service. conformance stands beside agent and explorer beside prover, both below cli.
const OURS = "^(base|inference|protocol|prover|challenger|agent|conformance|explorer|cli|tools|test|bench)/";

/** A folder may import only itself, the named folders and packages; how it is built is said with the tools' help. */
function only(folder, ...allowed) {
  return {
    name: `${folder}-imports-only-${allowed.join("-") || "itself"}`.replaceAll("/", "-"),
    severity: "error",
    from: { path: `^${folder}/`, pathNot: "/vite\\.config\\.ts$" },
    to: { path: OURS, pathNot: `^(${[folder, ...allowed].join("|")})/` },
  };
}

/** What needs no network, clock or file. */
const PURE = ["base", "inference", "protocol/rules"];

module.exports = {
  forbidden: [
    only("base"),
    only("inference", "base"),
    only("protocol", "inference", "base"),
    only("protocol/rules", "inference", "base"),
    only("protocol/chain", ...PURE),
    only("protocol/service", "protocol/chain", ...PURE),
    only("prover", "protocol", "inference", "base"),
    only("challenger", "protocol", "inference", "base"),
    only("agent", "protocol", "inference", "base"),
    only("conformance", "agent", "protocol", "inference", "base"),
    only("explorer", "protocol", "inference", "base"),
    {
      name: "pages-take-types-alone-from-the-server",
      severity: "error",
      from: { path: "^explorer/app/" },
      to: { path: "^explorer/(?!app/)", pathNot: "^explorer/(api/types|site/forms)\\.ts$" },
    },
    {
      name: "server-knows-no-page",
      severity: "error",
      from: { path: "^explorer/(?!app/)" },
      to: { path: "^explorer/app/" },
    },
    only(
      "cli",
      "conformance",
      "explorer",
      "agent",
      "prover",
      "challenger",
      "protocol",
      "inference",
      "base",
      "tools",
    ),
    only("tools", "protocol", "inference", "base"),
    {
      name: "rules-touch-no-machine",
      comment: "Rules are pure: no network, clock, file or process.",
      severity: "error",
      from: { path: "^(base|protocol/rules)/" },
      to: { dependencyTypes: ["core"] },
    },
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
      comment: "The pages are bundled by npm run build: nothing of them is installed where they run.",
      from: {
        path: "^(base|inference|protocol|prover|challenger|agent|conformance|explorer|cli)/",
        pathNot: "^explorer/(app/|site/(worker|site-shelf)\\.ts$)",
      },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "^node_modules/@types/",
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)build/|\\.sol$|^test/packages/projects/|^templates/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
