/** Gets the binary of the database driver now, so that whatever uses it first need not wait: where it is compiled that takes
 *  more than a minute of one core. */
import { openSqlite } from "../protocol/service/journal/sqlite.ts";

openSqlite(":memory:").close();
