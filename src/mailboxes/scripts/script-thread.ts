/** The worker thread that checks and runs Sieve scripts. */
import { realClock } from '../../system/clock.ts';
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { doJob, type ScriptJob } from './script-job.ts';

serveJobs((job: ScriptJob) => doJob(job, realClock));
