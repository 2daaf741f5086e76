import { useNavigate } from "@tanstack/react-router";
import type { Filters } from "../data/filters.ts";

interface FilterProps {
  readonly name: keyof Filters;
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly (readonly [value: string, name: string])[];
}

/** Chooses one value of a filter, which stands in the page's address. */
export function Filter({ name, label, value = "", choices }: FilterProps) {
  const navigate = useNavigate();
  return (
    <label className="field">
      <span>{label}</span>
      <select
        className="input"
        value={value}
        onChange={(event) =>
          navigate({
            to: ".",
            search: (before: Filters) => ({ ...before, [name]: event.target.value || undefined }),
            replace: true,
          })
        }
      >
        <option value="">all</option>
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
