/** Memory sessions answer NOTIFY to the letter as well. */
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdNotifyToTheLetter } from './letter-notify.ts';

const memory = createMemoryMail();

holdNotifyToTheLetter({
  openSession: memory.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => memory.deliver(mailbox, text.toString(), flags),
});
