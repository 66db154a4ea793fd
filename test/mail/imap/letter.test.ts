/** Memory sessions are held to the letter as well, since other tests rely on them. */
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdToTheLetter, type LetterMail } from './letter.ts';
import { holdExtensionsToTheLetter } from './letter-extensions.ts';

const memory = createMemoryMail();

const mail: LetterMail = {
  openSession: memory.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => memory.deliver(mailbox, text.toString(), flags),
};

holdToTheLetter(mail);
holdExtensionsToTheLetter(mail);
