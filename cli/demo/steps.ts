/** Steps of an agent as they read for people. */

const CHOICE = /, because "(\d+): ([^"\\]+)"$/;

/** A policy executor keeps where it stands in what it gives as its reason, `0: ForecastTool`: it is spelled out. Other
 *  reasons stay as they are.
 *  @param step as the agent's contract writes it */
export const plainStep = (step: string): string =>
  step.replace(
    CHOICE,
    (_reason, clause: string, tool: string) =>
      `, because its policy model chose ${tool} for part ${Number(clause) + 1} of the prompt`,
  );
