/**
 * What a transaction sends: envelope and message, checked before anything of them reaches the wire, and as commands.
 */
import { asBuffer, hasOnlyCrlf } from '../body.ts';
import type { SmtpReply } from '../reply.ts';
import type { SmtpFailure, SmtpPhase } from './failure.ts';

export type MessageContent = {
  sizeBytes: number;
  /** Any byte above 127 (RFC 6152). */
  isEightBit: boolean;
  /** The whole, where it is at hand. */
  inline: Uint8Array | undefined;
  /** All bytes in order; asked for only where there is no `inline`, and only as fast as the peer takes them. */
  chunks(): AsyncIterable<Uint8Array>;
};

export type Envelope = {
  /** Empty for the null reverse-path. */
  mailFrom: string;
  recipients: readonly string[];
  /** Goes before the message: the fields DKIM-Signature and Date, or nothing. ASCII. */
  prefix: Uint8Array;
  /** With CRLF line ends. */
  message: MessageContent;
  /**
   * Called when a phase has been completed on the wire: `mail`, `rcpt` and `data` once those commands were written,
   * `body` in the middle of the message, `dot` right after its final dot was written. It costs an extra packet or two,
   * so it is for whoever must know the moment.
   */
  onPhase?: ((phase: SmtpPhase) => void) | undefined;
};

/** RFC 5321 4.1.2, ASCII only: a local part with a space, or an angle bracket, is quoted. Nothing that could end the
 * command line (security.md 2.4). */
const ENVELOPE_ADDRESS =
  /^(?:"(?:[ !#-[\]-~]|\\[ -~])*"|[!#-;=?-~]+)@(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[A-Za-z0-9.:]+\])$/;
/** RFC 5321 4.5.3.1.8: what every server must take. */
const MAX_RECIPIENTS = 100;
/** RFC 5321 4.5.3.1.3 */
const MAX_ADDRESS_OCTETS = 254;

export function isEnvelopeAddress(address: string): boolean {
  return address.length <= MAX_ADDRESS_OCTETS && ENVELOPE_ADDRESS.test(address);
}

/** What must not be sent, and why. */
export function findFault({ mailFrom, recipients, prefix, message }: Envelope): SmtpFailure | undefined {
  const fault = (text: string) => ({ phase: 'mail', kind: 'protocol', message: text }) as const;
  if (mailFrom !== '' && !isEnvelopeAddress(mailFrom)) return fault('the sender is not an envelope address');
  if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS) {
    return fault(`the envelope has ${recipients.length} recipients`);
  }
  if (!recipients.every(isEnvelopeAddress)) return fault('a recipient is not an envelope address');
  const { inline } = message;
  if (inline && inline.length !== message.sizeBytes) return fault('the message is not as long as declared');
  const isClean = hasOnlyCrlf(asBuffer(prefix)) && (!inline || hasOnlyCrlf(asBuffer(inline)));
  return isClean ? undefined : fault('the message has a CR or LF outside CRLF');
}

/** The refusal a server would give a message of this size (RFC 1870 6.1: then a client need not try). */
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

/**
 * RFC 1870 4: at most 20 digits. Zero means that the server sets no limit; a value that is not a number is treated
 * alike.
 */
const SIZE_VALUE = /^[0-9]{1,20}$/;

function readSizeLimit(parameter: string | undefined): number | undefined {
  if (parameter === undefined || !SIZE_VALUE.test(parameter)) return undefined;
  const limit = Number(parameter);
  return limit === 0 ? undefined : limit;
}

export function mailCommand(envelope: Envelope, extensions: ReadonlyMap<string, string>): string {
  const size = extensions.has('SIZE') ? ` SIZE=${sizeOf(envelope)}` : '';
  // RFC 6152 3
  const body = extensions.has('8BITMIME') && envelope.message.isEightBit ? ' BODY=8BITMIME' : '';
  return `MAIL FROM:<${envelope.mailFrom}>${size}${body}\r\n`;
}

export function rcptCommand(address: string): string {
  return `RCPT TO:<${address}>\r\n`;
}

/** RFC 1870 3: octets with CRLF as two, dots not doubled. */
function sizeOf({ prefix, message }: Envelope): number {
  return prefix.length + message.sizeBytes;
}
