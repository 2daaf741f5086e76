import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";
import { Conversation } from "./conversation.ts";
import "../theme/tokens.css";
import "../theme/base.css";
import "../theme/parts.css";
import "./chat.css";

const conversation = new Conversation();
void conversation.loadAgents();

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Chat conversation={conversation} />
  </StrictMode>,
);
