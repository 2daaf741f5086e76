// The chat page. Everything that comes from outside enters the page as text, never as markup, with what is invisible or
// turns the direction of writing as `\u{…}`: a result must read as it is.

/** @param {string} id */
const part = (id) => document.getElementById(id);

const POLL_MS = 2_000;

/** Controls, format characters (those of direction and of no width among them), line separators, fillers, private use. */
const INVISIBLE =
  /(?![\n\t]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const visible = (text) => String(text).replace(INVISIBLE, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);

/** @type {{ source?: EventSource, turnId?: string, conversations: Map<string, string>, calls: Map<string, HTMLElement> }} */
const chat = { conversations: new Map(), calls: new Map() };

function add(kind, text) {
  const element = document.createElement("div");
  element.className = kind;
  element.textContent = visible(text);
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
    option.textContent = visible(name);
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
  name.textContent = `${visible(toolName)}: `;
  const state = document.createElement("span");
  state.className = "state";
  const detail = document.createElement("div");
  detail.className = "detail";
  call.append(name, state, detail);
  call.dataset.tool = toolName;
  showState(call, "running", "running");
  chat.calls.set(callId, call);
}

function onResult({ callId, success, status, data, meaning, error, claimId, requestId }) {
  const call = chat.calls.get(callId);
  if (call === undefined) return;
  showState(call, status, status);
  const where =
    claimId !== undefined ? `claim ${claimId}` : requestId !== undefined ? `request ${requestId}` : "";
  const shown = [where, meaning?.text, success ? JSON.stringify(data) : error].filter(Boolean).join("\n");
  call.querySelector(".detail").textContent = visible(shown);
  if (status !== "pending") return;
  if (claimId !== undefined) follow(call, () => claimStep(call, claimId));
  else if (requestId !== undefined) follow(call, () => requestStep(call, requestId));
}

/** Asks again until a step has nothing to wait for. @param step resolves to what comes next, undefined at the end */
async function follow(call, step) {
  let next = step;
  try {
    next = await step();
  } catch {
    // Asked again below; a claim does not go away because a request did.
  }
  if (next !== undefined) setTimeout(() => follow(call, next), POLL_MS);
}

/** Of a request until somebody claimed, then of the claim. */
async function requestStep(call, requestId) {
  const again = () => requestStep(call, requestId);
  const { state, final, claimId, expired } = await ask(`/v1/requests/${requestId}`);
  if (final) return showState(call, "final", "the request is final now: ask again");
  if (state === "REFUNDED")
    return showState(call, "failed", "nobody answered and the fee went back: ask again");
  if (expired) return showState(call, "failed", "nobody answered in time: ask again");
  if (claimId === undefined) {
    showState(call, "pending", "pending: nobody has claimed yet");
    return again;
  }
  const detail = call.querySelector(".detail");
  detail.textContent = detail.textContent.replace(/^request 0x[0-9a-f]+.*/s, `claim ${claimId}`);
  // A claim that falls leaves the request open for another one.
  return claimStep(call, claimId, again);
}

/** @param afterFall what to follow when the claim fell; absent: nothing */
async function claimStep(call, claimId, afterFall) {
  const { state, final } = await ask(`/v1/claims/${claimId}`);
  if (final) return showState(call, "final", "the claim is final now: ask again");
  if (state === "FALLEN") {
    showState(call, afterFall === undefined ? "failed" : "pending", "the claim fell: it was wrong");
    return afterFall;
  }
  showState(call, "pending", "pending");
  return () => claimStep(call, claimId, afterFall);
}

function onDenied({ toolName, error }) {
  const call = [...chat.calls.values()].findLast(
    (one) => one.dataset.tool === toolName && one.dataset.state === "running",
  );
  if (call === undefined) return;
  showState(call, "denied", "denied");
  call.querySelector(".detail").textContent = visible(error);
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
