/** The worker thread that takes messages apart. */
import { serveJobs } from '../../../system/killable-threads/serve.ts';
import { readMessage } from './read-message.ts';

serveJobs(readMessage);
