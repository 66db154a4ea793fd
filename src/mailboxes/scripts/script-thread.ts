/** The worker thread that checks and runs Sieve scripts. */
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { runJob } from './script-job.ts';

serveJobs(runJob);
