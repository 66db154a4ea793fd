/** Memory sessions are held to the letter as well, since other tests rely on them. */
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdToTheLetter } from './letter.ts';

const mail = createMemoryMail();

holdToTheLetter({
  openSession: mail.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => mail.deliver(mailbox, text.toString(), flags),
});
