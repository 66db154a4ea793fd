/**
 * The envelope and message of a transaction. This file checks both before any byte of them reaches the wire, and writes
 * the envelope as commands.
 */
import { wireFormOf } from '../body.ts';
import type { SmtpReply } from '../reply.ts';
import type { SmtpObserver } from './events.ts';
import type { SmtpFailure, SmtpPhase } from './failure.ts';

export type MessageContent = {
  sizeBytes: number;
  /** True when the message has a byte above 127 (RFC 6152). */
  isEightBit: boolean;
  /** All bytes of the message, which do not change any more, or undefined when they must be streamed. */
  inline: Uint8Array | undefined;
  /** Yields all bytes in order. It is called only when `inline` is undefined, and read only as fast as the peer takes them. */
  chunks(): AsyncIterable<Uint8Array>;
};

export type Envelope = {
  /** Empty string for the null reverse-path. */
  mailFrom: string;
  recipients: readonly string[];
  /** Header fields sent before the message (DKIM-Signature and Date), in ASCII. It may be empty. */
  prefix: Uint8Array;
  /** Message with CRLF line ends. */
  message: MessageContent;
  /** True when the message must not go on without verified TLS (RFC 8689). Only a server that offers REQUIRETLS gets it. */
  requireTls?: boolean | undefined;
  /** True when addresses or header fields are UTF-8 (RFC 6531). Only a server that offers SMTPUTF8 gets the message. */
  utf8?: boolean | undefined;
  /**
   * Parameters about notifications (smtp/dsn-parameters.ts), for the message and for each recipient in their order. Only a server that
   * offers DSN gets it.
   */
  dsn?: { message: string | null; recipients: readonly (string | null)[] } | undefined;
  /**
   * Called when a phase has been completed on the wire: `mail`, `rcpt` and `data` once those commands were written,
   * `body` in the middle of the message, `dot` right after its final dot was written. It costs an extra packet or two, so
   * only a caller that needs the exact moment should set it.
   */
  onPhase?: ((phase: SmtpPhase) => void) | undefined;
  /** Sees the commands, the replies and how the transaction fails (events.ts). */
  observer?: SmtpObserver | undefined;
  /** Resolves when the final dot may be sent. Everything before it is sent meanwhile. By default the dot waits for nothing. */
  mayEnd?: (() => Promise<unknown> | undefined) | undefined;
};

/**
 * An ASCII address of RFC 5321 section 4.1.2, whose local part is quoted when it has a space or an angle bracket. It cannot hold a
 * character that ends the command line, because such an address could smuggle in further commands.
 */
const ENVELOPE_ADDRESS =
  /^(?:"(?:[ !#-[\]-~]|\\[ -~])*"|[!#-;=?-~]+)@(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[A-Za-z0-9.:]+\])$/;
/** Matches an address with UTF-8 in its local part (RFC 6531 section 3.3). The domain has A-labels. */
const UTF8_ADDRESS =
  /^(?:"(?:[ !#-[\]-~\u{a0}-\u{10ffff}]|\\[ -~])*"|[!#-;=?-~\u{a0}-\u{10ffff}]+)@(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[A-Za-z0-9.:]+\])$/u;
/** Number of recipients that every server must accept in one transaction (RFC 5321 section 4.5.3.1.8). */
const MAX_RECIPIENTS = 100;
/** Maximum length of an address without its angle brackets (RFC 5321 section 4.5.3.1.3). */
const MAX_ADDRESS_OCTETS = 254;

/** Returns true for an address that can stand in the commands of an envelope. */
function isEnvelopeAddress(address: string, utf8 = false): boolean {
  if (Buffer.byteLength(address) > MAX_ADDRESS_OCTETS) return false;
  return ENVELOPE_ADDRESS.test(address) || (utf8 && UTF8_ADDRESS.test(address));
}

/** Returns why this envelope must not be sent, or undefined when it may be. */
export function findFault({
  mailFrom,
  recipients,
  prefix,
  message,
  utf8,
}: Envelope): SmtpFailure | undefined {
  const fault = (text: string) => ({ phase: 'mail', kind: 'protocol', message: text }) as const;
  if (mailFrom !== '' && !isEnvelopeAddress(mailFrom, utf8))
    return fault('the sender is not an envelope address');
  if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS) {
    return fault(`the envelope has ${recipients.length} recipients`);
  }
  if (!recipients.every((recipient) => isEnvelopeAddress(recipient, utf8)))
    return fault('a recipient is not an envelope address');
  const { inline } = message;
  if (inline && inline.length !== message.sizeBytes) return fault('the message is not as long as declared');
  const isClean = [prefix, inline].every((bytes) => bytes === undefined || wireFormOf(bytes) !== undefined);
  return isClean ? undefined : fault('the message has a CR or LF outside CRLF');
}

/**
 * Returns the refusal that the server would give to a message of this size, or undefined when it is small enough. RFC 1870
 * 6.1 lets a client skip the attempt.
 */
export function refuseSize(
  envelope: Envelope,
  extensions: ReadonlyMap<string, string>,
): SmtpReply | undefined {
  const size = sizeOf(envelope);
  const limit = readSizeLimit(extensions.get('SIZE'));
  if (limit === undefined || size <= limit) return undefined;
  const text = `5.3.4 Not sent: the message has ${size} octets and the server takes ${limit}`;
  return { code: 552, enhanced: '5.3.4', lines: [text] };
}

/** Returns the refusal of a message with REQUIRETLS for a server that does not offer it (RFC 8689 section 4.2.1). */
export function refuseWithoutTls(
  { requireTls }: Envelope,
  extensions: ReadonlyMap<string, string>,
): SmtpReply | undefined {
  if (requireTls !== true || extensions.has('REQUIRETLS')) return undefined;
  return { code: 550, enhanced: '5.7.30', lines: ['5.7.30 Not sent: REQUIRETLS support required'] };
}

/** Returns the refusal of a message in UTF-8 for a server that does not offer SMTPUTF8 (RFC 6531 section 3.2). */
export function refuseUtf8(
  { utf8 }: Envelope,
  extensions: ReadonlyMap<string, string>,
): SmtpReply | undefined {
  if (utf8 !== true || extensions.has('SMTPUTF8')) return undefined;
  return { code: 550, enhanced: '5.6.7', lines: ['5.6.7 Not sent: SMTPUTF8 support required'] };
}

/**
 * The value of SIZE has at most 20 digits (RFC 1870 section 4). Zero means that the server sets no limit, and so does a value that
 * is not a number.
 */
const SIZE_VALUE = /^[0-9]{1,20}$/;

function readSizeLimit(parameter: string | undefined): number | undefined {
  if (parameter === undefined || !SIZE_VALUE.test(parameter)) return undefined;
  const limit = Number(parameter);
  return limit === 0 ? undefined : limit;
}

/**
 * Returns the MAIL command, with the parameters that the server's extensions allow (RFC 1870 section 3, RFC 6152 section 3), and
 * REQUIRETLS (RFC 8689 section 2).
 */
export function mailCommand(envelope: Envelope, extensions: ReadonlyMap<string, string>): string {
  const size = extensions.has('SIZE') ? ` SIZE=${sizeOf(envelope)}` : '';
  const body = extensions.has('8BITMIME') && envelope.message.isEightBit ? ' BODY=8BITMIME' : '';
  const required = envelope.requireTls === true ? ' REQUIRETLS' : '';
  const utf8 = envelope.utf8 === true ? ' SMTPUTF8' : '';
  const dsn = dsnParameters(envelope.dsn?.message, extensions);
  return `MAIL FROM:<${envelope.mailFrom}>${size}${body}${required}${utf8}${dsn}\r\n`;
}

/** Returns the RCPT commands for the recipients, which `isEnvelopeAddress` accepts. */
export function rcptCommands(
  { recipients, dsn }: Envelope,
  extensions: ReadonlyMap<string, string>,
): string[] {
  return recipients.map(
    (address, index) => `RCPT TO:<${address}>${dsnParameters(dsn?.recipients[index], extensions)}\r\n`,
  );
}

/** Matches parameters that cannot end the command line. */
const PARAMETERS = /^[!-~]+(?: [!-~]+)*$/;

function dsnParameters(
  parameters: string | null | undefined,
  extensions: ReadonlyMap<string, string>,
): string {
  return parameters && extensions.has('DSN') && PARAMETERS.test(parameters) ? ` ${parameters}` : '';
}

/** Returns the number of octets, where CRLF counts as two and doubled dots count once (RFC 1870 section 3). */
function sizeOf({ prefix, message }: Envelope): number {
  return prefix.length + message.sizeBytes;
}
