/** The worker thread that parses messages. */
import { serveJobs } from '../../../system/killable-threads/serve.ts';
import { readMessage } from './read-message.ts';

serveJobs(readMessage);
