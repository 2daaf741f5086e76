// The chat page. Everything that comes from outside enters the page as text, never as markup.

/** @param {string} id */
const part = (id) => document.getElementById(id);

const CLAIM_POLL_MS = 2_000;

/** @type {{ source?: EventSource, turnId?: string, conversations: Map<string, string>, calls: Map<string, HTMLElement> }} */
const chat = { conversations: new Map(), calls: new Map() };

function add(kind, text) {
  const element = document.createElement("div");
  element.className = kind;
  element.textContent = text;
  part("log").append(element);
  element.scrollIntoView({ block: "end" });
  return element;
}

async function ask(path, options = {}) {
  const token = part("token").value;
  const headers = {
    ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    ...(options.body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(path, { ...options, headers });
  const body = response.status === 204 ? {} : await response.json();
  if (!response.ok) throw new Error(body.error?.message ?? `The gateway answered ${response.status}.`);
  return body;
}

async function loadAgents() {
  const { agents } = await ask("/v1/agents");
  for (const { id, name, availableTools } of agents) {
    const option = document.createElement("option");
    option.value = id;
    option.textContent = name;
    option.dataset.tools = availableTools.join(", ");
    part("agent").append(option);
  }
  showTools();
}

function showTools() {
  const chosen = part("agent").selectedOptions[0];
  part("tools").textContent =
    chosen === undefined ? "There is no agent yet." : `Tools: ${chosen.dataset.tools || "none"}`;
}

function showState(call, state, text) {
  call.dataset.state = state;
  call.querySelector(".state").textContent = text;
}

function onCall({ callId, toolName }) {
  const call = add("call", "");
  const name = document.createElement("span");
  name.textContent = `${toolName}: `;
  const state = document.createElement("span");
  state.className = "state";
  const detail = document.createElement("div");
  detail.className = "detail";
  call.append(name, state, detail);
  call.dataset.tool = toolName;
  showState(call, "running", "running");
  chat.calls.set(callId, call);
}

function onResult({ callId, success, status, data, error, claimId, requestId }) {
  const call = chat.calls.get(callId);
  if (call === undefined) return;
  showState(call, status, status);
  const where =
    claimId !== undefined ? `claim ${claimId}` : requestId !== undefined ? `request ${requestId}` : "";
  call.querySelector(".detail").textContent = [where, success ? JSON.stringify(data) : error]
    .filter(Boolean)
    .join("\n");
  if (status === "pending" && claimId !== undefined) watchClaim(call, claimId);
}

/** Follows a claim until it is final or falls. */
async function watchClaim(call, claimId) {
  try {
    const { state, final } = await ask(`/v1/claims/${claimId}`);
    if (final) return showState(call, "final", "the claim is final now: ask again");
    if (state === "FALLEN") return showState(call, "failed", "the claim fell: it was wrong");
    showState(call, "pending", "pending");
  } catch {
    // Asked again below; a claim does not go away because a request did.
  }
  setTimeout(() => watchClaim(call, claimId), CLAIM_POLL_MS);
}

function onDenied({ toolName, error }) {
  const call = [...chat.calls.values()].findLast(
    (one) => one.dataset.tool === toolName && one.dataset.state === "running",
  );
  if (call === undefined) return;
  showState(call, "denied", "denied");
  call.querySelector(".detail").textContent = error;
}

function setBusy(isBusy) {
  part("send").disabled = isBusy;
  part("cancel").disabled = !isBusy;
}

function listen(turnId) {
  const source = new EventSource(`/v1/turns/${turnId}/events`);
  chat.source = source;
  const on = (name, handle) => source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  on("tool_call", onCall);
  on("tool_result", onResult);
  on("tool_error", onDenied);
  on("text", ({ text }) => add("reply", text));
  source.addEventListener("error", (event) => {
    // An event `error` of the gateway has data; one of the connection has none, and the browser connects again.
    if (event.data !== undefined) add("error", JSON.parse(event.data).message);
    else if (source.readyState === EventSource.CLOSED) finish();
  });
  on("done", ({ outcome }) => {
    if (outcome === "cancelled") add("error", "Cancelled.");
    finish();
  });
}

function finish() {
  chat.source?.close();
  setBusy(false);
}

async function submit() {
  const agentId = part("agent").value;
  const message = part("message").value;
  if (agentId === "" || message.trim() === "") return;
  add("message", message);
  part("message").value = "";
  chat.calls.clear();
  setBusy(true);
  try {
    const conversationId = chat.conversations.get(agentId);
    const turn = await ask(`/v1/agents/${agentId}/turns`, {
      method: "POST",
      body: JSON.stringify({ message, ...(conversationId === undefined ? {} : { conversationId }) }),
    });
    chat.conversations.set(agentId, turn.conversationId);
    chat.turnId = turn.turnId;
    listen(turn.turnId);
  } catch (error) {
    add("error", error.message);
    setBusy(false);
  }
}

part("agent").addEventListener("change", showTools);
part("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
part("cancel").addEventListener("click", () =>
  ask(`/v1/turns/${chat.turnId}`, { method: "DELETE" }).catch(() => {}),
);
loadAgents().catch((error) => add("error", error.message));
