/** Faults that could stand in the importer's lowering, each with the reference that must find it. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { FOLDING_FAULTS } from "./folding.ts";
import { FUNCTION_FAULTS } from "./functions.ts";
import { DYNAMIC_FAULTS, NORMALIZING_FAULTS } from "./normalizing.ts";
import { ORDERING_FAULTS } from "./ordering.ts";
import { PICKING_FAULTS } from "./picking.ts";
import { PLACING_FAULTS } from "./placing.ts";
import { PRODUCT_FAULTS } from "./products.ts";

export const OPERATOR_FAULTS: readonly Mutant[] = [
  ...PLACING_FAULTS,
  ...PICKING_FAULTS,
  ...ORDERING_FAULTS,
  ...PRODUCT_FAULTS,
  ...NORMALIZING_FAULTS,
  ...DYNAMIC_FAULTS,
  ...FUNCTION_FAULTS,
  ...FOLDING_FAULTS,
];
