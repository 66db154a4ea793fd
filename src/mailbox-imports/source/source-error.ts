/** The errors of a server that mail is imported from. Their messages are for the person who imports. */
import type { MailboxImportRow } from '../../db/mailbox-tables.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';

/**
 * Faults of a server. Other attempts cannot change that it refuses the login, or that nobody may connect to it (`source_refused`). They
 * can help when it is `source_unavailable`.
 */
type SourceFault = 'login_refused' | 'source_refused' | 'source_unavailable';

/** Maximum length of a text of the server that is shown. */
const MAX_TEXT_CHARACTERS = 300;

/** Reports that the session with the server has ended. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly fault: SourceFault;

  constructor(fault: SourceFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/**
 * Reports that nothing at the port has answered as an IMAP server does. The text is the same whatever is there: nobody finds out by imports
 * which ports of other hosts are open.
 */
export class NoImapServer extends SourceError {
  constructor({ host, port }: Pick<MailboxImportRow, 'host' | 'port'>, options?: ErrorOptions) {
    super('source_unavailable', `${host}:${port} does not answer as an IMAP server does`, options);
  }
}

/** Reports that the server has refused a command. The session goes on. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** Returns a text of the server as one short line. */
export function sourceText(text: string): string {
  return cleanForeignText(text, MAX_TEXT_CHARACTERS);
}
