import { start } from "../../../bin/bundled.js";

await start("cli/demo/dishonest/main");
