import { useInfiniteQuery } from "@tanstack/react-query";
import { shortId } from "../parts/id.tsx";
import { visible } from "../parts/visible.ts";
import { modelsQuery } from "./queries.ts";

/** Models to choose from: id and name. */
export function useModelChoices(): readonly (readonly [string, string])[] {
  const { data } = useInfiniteQuery(modelsQuery);
  const models = data?.pages.flatMap(({ items }) => items) ?? [];
  return models.map(({ modelId, name }) => [modelId, name === undefined ? shortId(modelId) : visible(name)]);
}
