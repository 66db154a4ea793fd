/** The worker thread that reads reports. */
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { readReport } from './read.ts';

serveJobs((message: Uint8Array) => readReport(message) ?? null);
