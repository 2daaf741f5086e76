#!/usr/bin/env node
import { start } from "./bundled.js";

await start("cli/main");
