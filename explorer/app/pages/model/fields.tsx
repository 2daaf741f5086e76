import type { Model } from "../../../api/types.ts";
import { Outside } from "../../parts/outside.tsx";
import { type Draft, type Field, fieldsOf } from "./inputs.ts";

interface FieldsProps {
  readonly model: Model;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** One field for each part of a model's input. A file can be dropped on those that take many numbers. */
export function Fields({ model, draft, onChange }: FieldsProps) {
  const fields = fieldsOf(model);
  const set = (name: string) => (text: string) => onChange({ ...draft, [name]: text });
  const isForm = fields.length > 3;
  return (
    <div className={isForm ? "number-fields" : "stack"}>
      {fields.map((field) => (
        <OneField key={field.name} field={field} value={draft[field.name] ?? ""} onChange={set(field.name)} />
      ))}
    </div>
  );
}

interface OneFieldProps {
  readonly field: Field;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function OneField({
  field: { name, description, kind, size, minimum, maximum },
  value,
  onChange,
}: OneFieldProps) {
  const label = (
    <span>
      <strong>
        <Outside text={name} />
      </strong>
      {description !== undefined && (
        <>
          {" "}
          <Outside text={description} />
        </>
      )}
      {kind === "list" && ` (${size} numbers)`}
    </span>
  );
  if (kind === "number") {
    return (
      <label className="field">
        {label}
        <input
          className="input"
          inputMode="numeric"
          type="number"
          min={minimum}
          max={maximum}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
    );
  }
  return (
    <label className="field">
      {label}
      <textarea
        className={kind === "text" ? "input" : "input mono"}
        rows={3}
        value={value}
        spellCheck={kind === "text"}
        onChange={(event) => onChange(event.target.value)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          const [file] = event.dataTransfer.files;
          if (file === undefined) return;
          event.preventDefault();
          void file.text().then(onChange);
        }}
      />
    </label>
  );
}
