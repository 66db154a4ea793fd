/** Memory sessions put messages together as accounts do. */
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdCatenationToTheLetter } from './letter-catenate.ts';

const memory = createMemoryMail();

holdCatenationToTheLetter({
  openSession: memory.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => memory.deliver(mailbox, text.toString(), flags),
});
