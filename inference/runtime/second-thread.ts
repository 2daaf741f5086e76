/** The second thread of a run. */
import { workerData } from "node:worker_threads";
import { type SecondThreadWork, takeParts } from "./two-threads.ts";

takeParts(workerData as SecondThreadWork);
