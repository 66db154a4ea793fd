/** The worker thread that reads what mailboxes store of messages. */
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { readMailboxMessage } from './mailbox-message.ts';

serveJobs(readMailboxMessage);
