/** The version of this package: what the program, MCP and HTTP say of themselves. */
import packageFile from "../package.json" with { type: "json" };

export const VERSION: string = packageFile.version;
