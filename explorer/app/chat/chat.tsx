import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Badge, type Tone } from "../parts/badges.tsx";
import { Outside } from "../parts/outside.tsx";
import { ThemeChoice } from "../parts/theme-choice.tsx";
import { visible } from "../parts/visible.ts";
import type { Call, CallState, Conversation, Entry } from "./conversation.ts";

/** A chat with an agent of the gateway. Everything that comes from outside is text, with controls shown as such. */
export function Chat({ conversation }: { readonly conversation: Conversation }) {
  const { agents, entries, isBusy } = useSyncExternalStore(conversation.subscribe, conversation.state);
  const [chosen, setChosen] = useState<string>();
  const agent = agents?.find(({ id }) => id === chosen) ?? agents?.[0];
  return (
    <div className="chat">
      <header className="stack near">
        <div className="row spread">
          <h1>Assay agents</h1>
          <ThemeChoice />
        </div>
        <div className="columns" style={{ "--column": "12rem" } as React.CSSProperties}>
          <label className="field">
            <span>Agent</span>
            <select
              id="agent"
              className="input"
              value={agent?.id ?? ""}
              onChange={(event) => setChosen(event.target.value)}
            >
              {agents?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {visible(name)}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            <span>Token</span>
            <input
              id="token"
              className="input"
              type="password"
              autoComplete="off"
              placeholder="if the operator gave you one"
              onChange={(event) => {
                conversation.token = event.target.value;
              }}
            />
          </label>
        </div>
        <p id="tools" className="small soft">
          {agents !== undefined && agent === undefined && "There is no agent yet."}
          {agent !== undefined && <Outside text={`Tools: ${agent.availableTools.join(", ") || "none"}`} />}
        </p>
      </header>
      <main className="stack">
        <div id="log" className="log" aria-live="polite">
          {entries.map((entry) => (
            <Line key={entry.id} entry={entry} />
          ))}
          <End at={entries.length} />
        </div>
        <Ask
          isBusy={isBusy}
          onAsk={(message) => agent !== undefined && void conversation.submit(agent.id, message)}
          onCancel={() => void conversation.cancel()}
        />
      </main>
      <footer className="small soft">
        This agent answers only from its tools. A result marked final was computed by a registered model and
        is final on the chain; one marked signed is backed by a bond and not final; one marked unverified is
        what some server said.
      </footer>
    </div>
  );
}

/** Keeps the newest line in sight. */
function End({ at }: { readonly at: number }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (at > 0) place.current?.scrollIntoView({ block: "end" });
  }, [at]);
  return <div ref={place} />;
}

function Line({ entry }: { readonly entry: Entry }) {
  if (entry.kind === "call") return <CallLine call={entry} />;
  return (
    <div className={entry.kind}>
      <Outside text={entry.text} />
    </div>
  );
}

const TONES: Readonly<Record<CallState, Tone>> = {
  running: "info",
  final: "good",
  signed: "wait",
  unverified: "none",
  pending: "wait",
  failed: "bad",
  denied: "bad",
};

function CallLine({ call: { toolName, state, words, detail } }: { readonly call: Call }) {
  return (
    <div className="call" data-state={state} data-tool={toolName}>
      <Outside text={`${toolName}: `} />
      <Badge tone={TONES[state]}>{words}</Badge>
      <div className="detail small soft">
        <Outside text={detail} />
      </div>
    </div>
  );
}

interface AskProps {
  readonly isBusy: boolean;
  readonly onAsk: (message: string) => void;
  readonly onCancel: () => void;
}

function Ask({ isBusy, onAsk, onCancel }: AskProps) {
  const [message, setMessage] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (message.trim() === "") return;
    setMessage("");
    onAsk(message);
  };
  return (
    <form id="ask" className="ask" onSubmit={submit}>
      <textarea
        id="message"
        className="input"
        rows={2}
        required
        aria-label="Message"
        value={message}
        onChange={(event) => setMessage(event.target.value)}
      />
      <button id="send" type="submit" className="button first" disabled={isBusy}>
        Ask
      </button>
      <button id="cancel" type="button" className="button" disabled={!isBusy} onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}
