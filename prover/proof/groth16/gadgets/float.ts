import { FLOAT_VARIANTS } from "../../../../inference/program/form.ts";
import type { Gadget } from "./gadget.ts";

/** FLOAT has no circuit: binary32 rounding would cost thousands of constraints an element. */
export const float: Gadget = ({ step, refuse }) =>
  refuse(
    `computes binary32 ${FLOAT_VARIANTS[step.variant]}; only integers have a circuit`,
    "Replace the float operators by QOperator layers, integer operators or tables, or use the bond lane.",
  );
