/** Searches of memory sessions are updated to the letter as well. */
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdContextsToTheLetter } from './letter-contexts.ts';

const memory = createMemoryMail();

holdContextsToTheLetter({
  openSession: memory.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => memory.deliver(mailbox, text.toString(), flags),
});
