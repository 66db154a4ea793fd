/** The worker thread that checks emails. */
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { checkMessage } from './check-message.ts';

serveJobs(checkMessage);
