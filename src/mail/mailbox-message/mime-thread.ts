/** The worker thread that reads what mailboxes store of messages. */

import { serveJobs } from '../../system/killable-threads/serve.ts';
import { type ReadingOptions, readMailboxMessage } from './read.ts';

serveJobs(({ octets, options }: { octets: Uint8Array; options: ReadingOptions }) =>
  readMailboxMessage(octets, options),
);
