/** The routes of the messages of a mailbox. All of them share the bound on calls to accounts. */
import type { FastifyInstance } from 'fastify';
import type { ReceivedContents } from '../routes/messages/content.ts';
import { createKnownSenders } from '../submission/submission-app.ts';
import { createMessageAccess, type MailboxApp } from './access.ts';
import { registerReadApi } from './read-api.ts';
import { registerWriteApi } from './write-api.ts';

/** Registers the routes that read and those that write. */
export function registerMailboxMessages(
  server: FastifyInstance,
  app: MailboxApp & { contents: ReceivedContents },
): void {
  const access = createMessageAccess(app);
  registerReadApi(server, app, access);
  registerWriteApi(server, { ...app, access, knownSenders: createKnownSenders(app) });
}
