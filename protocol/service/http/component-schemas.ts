/** Answers' schemas as the components of an OpenAPI document. */
import { z } from "zod";

/** @param answers by name; one that another holds is referred to
 *  @returns JSON schemas by name; objects are open, for callers must expect members that are added later */
export function componentSchemas(
  answers: Readonly<Record<string, z.ZodType>>,
): Readonly<Record<string, unknown>> {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries(answers)) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    uri: (name) => `#/components/schemas/${name}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, id: _name, ...rest }]) => [name, rest]),
  );
}
