/** Where the weights of SmolLM2 are, which the repository does not have. */

/** The file that models/smollm2/scales.json names. @returns undefined where ASSAY_WEIGHTS does not say where it is */
export const smollm2Weights = (): string | undefined => process.env.ASSAY_WEIGHTS;
