import { type DragEvent, useState } from "react";

interface DropProps {
  readonly hasFiles: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Where files are dropped or chosen. */
export function Drop({ hasFiles, onFiles }: DropProps) {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <label
      className={`sheet drop ${isOver ? "is-over" : ""} ${hasFiles ? "is-small" : ""}`}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const files = [...event.dataTransfer.files];
        if (files.length > 0) onFiles(files);
      }}
    >
      <strong>{hasFiles ? "Drop or choose another file" : "Drop an ONNX file here, or choose one"}</strong>
      <span className="small soft">
        tool.json, README.md, eval.json and verification-key.bin may lie beside it. No file leaves this
        browser.
      </span>
      <input
        type="file"
        multiple
        className="drop-input"
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          // The same file may be chosen again once it is changed.
          target.value = "";
          if (files.length > 0) onFiles(files);
        }}
      />
    </label>
  );
}
