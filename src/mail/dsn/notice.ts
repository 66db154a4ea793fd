/** A notice is the part of a bounce that is about one recipient, whatever form the bounce has. */

/**
 * The forms of bounces. `structured` is the machine-readable form (RFC 3464, RFC 6533); `text` is written for people, and its codes are
 * read from the words.
 */
type BounceForm = 'structured' | 'text';

/** The actions of RFC 3464 section 2.3.3. */
export type NoticeAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export type Notice = {
  form: BounceForm;
  action: NoticeAction;
  /** Enhanced status code of the report itself (RFC 3463), such as `5.1.1`. */
  status: string | null;
  /** The reason in one line: usually the reply of the last server, without its type. */
  diagnosticCode: string | null;
  /** All words of the text for people about this address; null when it has none. */
  explanation: string | null;
  /**
   * The address that failed, and the one that the sender gave. Either may be in an encoded form (address.ts). A text that names no
   * address has neither.
   */
  finalRecipient: string | null;
  originalRecipient: string | null;
  /** Name of the server that refused or delayed the message. */
  remoteMta: string | null;
  /** Time until which the reporting server keeps trying, in Unix milliseconds. */
  willRetryUntil: number | null;
};

/** Maximum number of recipients in one bounce. Our own limit: an email has at most 150. */
export const MAX_NOTICES = 200;
/** Maximum length of a diagnostic. Our own limit: the codes and the reason stand at its beginning. */
export const MAX_DIAGNOSTIC_CHARACTERS = 2_000;

const STATUS = /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** Returns the first enhanced status code of a text, or null. */
export function findStatus(text: string): string | null {
  return STATUS.exec(text)?.[1] ?? null;
}

/**
 * Returns a diagnostic as one line. A reply of several lines repeats its code, which is shown once: `550-5.1.1 No
 * 550 5.1.1 mailbox`.
 */
export function cleanDiagnostic(text: string): string | null {
  const line = text.slice(0, MAX_DIAGNOSTIC_CHARACTERS).replace(/\s+/g, ' ').trim();
  const [, code = ''] = /^([245]\d\d)-/.exec(line) ?? [];
  if (code === '') return line === '' ? null : line;
  const repeated = new RegExp(` ${code}[- ](?:[245]\\.\\d{1,3}\\.\\d{1,3} )?`, 'g');
  return line.replace(/^(\d\d\d)-/, '$1 ').replace(repeated, ' ');
}
