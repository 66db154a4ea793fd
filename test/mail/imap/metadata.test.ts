/** Memory sessions keep annotations as accounts do. */
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdMetadataToTheLetter } from './letter-metadata.ts';

const memory = createMemoryMail();

holdMetadataToTheLetter({
  openSession: memory.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => memory.deliver(mailbox, text.toString(), flags),
});
