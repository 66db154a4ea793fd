/** The worker thread that encrypts a backup: it takes the time of a core. */
import { serveJobs } from '../system/killable-threads/serve.ts';
import { packEncrypted } from './pack.ts';

serveJobs(packEncrypted);
