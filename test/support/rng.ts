/** The random numbers of every test: those by which `assay conformance` makes its cases. */
export { createRng, type Rng } from "../../conformance/generate/rng.ts";
