/**
 * One mail transaction (RFC 5321 3.3): MAIL, RCPT for each recipient, DATA, the message, and the verdict on each
 * recipient. Where the peer offers PIPELINING (RFC 2920) the commands up to DATA go out in one packet.
 */
import { hasEightBitBytes, hasOnlyCrlf, stuffDots } from './body.ts';
import type { SmtpConnection } from './connection.ts';
import { protocolError, SmtpError, type SmtpFailure, type SmtpPhase } from './failure.ts';
import type { SmtpReply } from './reply.ts';
import type { SmtpTimeouts } from './timeouts.ts';

export type Envelope = {
  /** Empty for the null reverse-path. */
  mailFrom: string;
  recipients: readonly string[];
  /** Goes before the message: the DKIM field, or nothing. */
  prefix: Uint8Array;
  /** With CRLF line ends. */
  message: Uint8Array;
  /** Called when a phase has been completed on the wire: `mail`, `rcpt` and `data` once those commands were written,
   * `body` while the message is being written, `dot` right after its final dot was. */
  onPhase?: (phase: SmtpPhase) => void;
};

export type RecipientResult =
  | { kind: 'accepted'; reply: SmtpReply }
  /** The peer's verdict; with code 421 it spoke of the session rather than of the recipient. */
  | { kind: 'refused'; phase: SmtpPhase; reply: SmtpReply }
  /** No verdict. With `dotSent` the peer may have taken the message all the same. */
  | { kind: 'failed'; failure: SmtpFailure; dotSent: boolean };

export type TransactionResult = {
  /** In the envelope's order. */
  recipients: RecipientResult[];
  /** Whether the session may carry another transaction. */
  usable: boolean;
};

/** What of a session outlives a transaction. */
export type SessionState = {
  connection: SmtpConnection;
  extensions: ReadonlyMap<string, string>;
  timeouts: SmtpTimeouts;
  /** The peer may still hold a transaction that ended early; RSET comes before the next one. */
  needsReset: boolean;
};

/** Between two slices the peer's window is waited for. */
const SLICE_BYTES = 64 * 1024;
/** RFC 5321 4.1.2, ASCII only: a local part with a space, or an angle bracket, is quoted. Nothing that could end the
 * command line (security.md 2.4). */
const ENVELOPE_ADDRESS =
  /^(?:"(?:[ !#-[\]-~]|\\[ -~])*"|[!#-;=?-~]+)@(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[A-Za-z0-9.:]+\])$/;
/** RFC 5321 4.5.3.1.8: what every server must take. */
const RECIPIENTS_LIMIT = 100;
/** RFC 5321 4.5.3.1.3 */
const ADDRESS_LIMIT_OCTETS = 254;

export function isEnvelopeAddress(address: string): boolean {
  return address.length <= ADDRESS_LIMIT_OCTETS && ENVELOPE_ADDRESS.test(address);
}

/** Never throws for what a peer does; the session is closed wherever it cannot be used again. */
export async function transact(state: SessionState, envelope: Envelope): Promise<TransactionResult> {
  const progress: Progress = { results: envelope.recipients.map(() => undefined), dotSent: false };
  let usable = false;
  try {
    usable = refuseLocally(state, envelope, progress) || (await converse(state, envelope, progress));
  } catch (error) {
    if (!(error instanceof SmtpError)) {
      state.connection.destroy();
      throw error;
    }
    settle(progress, { kind: 'failed', failure: error.failure, dotSent: progress.dotSent });
  }
  // A reply nobody asked for would be taken for the answer to the next command.
  usable &&= state.connection.isOpen && !state.connection.hasInput;
  if (!usable) state.connection.destroy();
  return { recipients: progress.results.filter((result) => result !== undefined), usable };
}

type Progress = { results: (RecipientResult | undefined)[]; dotSent: boolean };

/** Gives every recipient without a verdict this one. */
function settle(progress: Progress, result: RecipientResult): void {
  for (const [index, known] of progress.results.entries()) progress.results[index] = known ?? result;
}

/** What the wire must not see, and what RFC 1870 6.1 lets a client refuse by itself. True when it did. */
function refuseLocally(state: SessionState, envelope: Envelope, progress: Progress): boolean {
  const fault = envelopeFault(envelope);
  if (fault !== undefined) {
    const failure = { phase: 'mail', kind: 'protocol', message: fault } as const;
    settle(progress, { kind: 'failed', failure, dotSent: false });
    return true;
  }
  const size = envelope.prefix.length + envelope.message.length;
  const limit = Number(state.extensions.get('SIZE') ?? 0);
  if (!(limit > 0 && size > limit)) return false;
  const text = `5.3.4 Not sent: the message has ${size} octets and the server takes ${limit}`;
  const reply = { code: 552, enhanced: '5.3.4', lines: [text] };
  settle(progress, { kind: 'refused', phase: 'mail', reply });
  return true;
}

function envelopeFault({ mailFrom, recipients, prefix, message }: Envelope): string | undefined {
  if (mailFrom !== '' && !isEnvelopeAddress(mailFrom)) return 'the sender is not an envelope address';
  if (recipients.length === 0 || recipients.length > RECIPIENTS_LIMIT) {
    return `the envelope has ${recipients.length} recipients`;
  }
  if (!recipients.every(isEnvelopeAddress)) return 'a recipient is not an envelope address';
  const isClean = hasOnlyCrlf(asBuffer(prefix)) && hasOnlyCrlf(asBuffer(message));
  return isClean ? undefined : 'the message has a CR or LF outside CRLF';
}

/** True when the session is in a state to carry on. */
async function converse(state: SessionState, envelope: Envelope, progress: Progress): Promise<boolean> {
  refuseSurprise(state.connection);
  const data = await sendEnvelope(state, envelope, progress);
  if (data === undefined) return false;
  if (data === 'not-asked') return true;
  if (data.code !== 354) {
    if (data.code < 400) throw protocolError('data', `the answer to DATA was ${data.code}`);
    settle(progress, { kind: 'refused', phase: 'data', reply: data });
    return data.code !== 421;
  }
  if (progress.results.every((result) => result !== undefined)) return await endWithBareDot(state);
  const early = await sendMessage(state, envelope, progress);
  if (early) return settleEarly(progress, early);
  const verdict = await state.connection.read('dot', state.timeouts.dotMs);
  if (isSuccess(verdict)) {
    settle(progress, { kind: 'accepted', reply: verdict });
    state.needsReset = false;
    return true;
  }
  if (verdict.code < 400) throw protocolError('dot', `the answer to the message was ${verdict.code}`);
  settle(progress, { kind: 'refused', phase: 'dot', reply: verdict });
  return verdict.code !== 421;
}

/** A reply before anything was asked is a goodbye (421 4.4.2 to an idle session) or nonsense. */
function refuseSurprise(connection: SmtpConnection): void {
  if (!connection.hasInput) return;
  const reply = connection.takeReply();
  if (reply?.code === 421) throw new SmtpError({ phase: 'mail', kind: 'reply', reply });
  throw protocolError('mail', 'the peer spoke before it was asked');
}

/**
 * MAIL, RCPT and DATA. Answers with the reply to DATA; `not-asked` where nobody is left to send to and DATA was not
 * sent; undefined after a 421, which ends the session in any phase (RFC 5321 3.8).
 */
async function sendEnvelope(
  state: SessionState,
  envelope: Envelope,
  progress: Progress,
): Promise<SmtpReply | 'not-asked' | undefined> {
  const { connection, timeouts, extensions } = state;
  const pipelines = extensions.has('PIPELINING');
  const mail = mailCommand(envelope, extensions);
  const rcpts = envelope.recipients.map((address) => `RCPT TO:<${address}>\r\n`);
  const reset = state.needsReset ? 'RSET\r\n' : '';
  if (pipelines) await writeCommands(state, envelope, reset + mail + rcpts.join(''));
  const ask = async (phase: SmtpPhase, command: string, timeoutMs: number): Promise<SmtpReply> => {
    if (!pipelines) {
      await connection.write(phase, command, timeoutMs);
      if (command !== reset) envelope.onPhase?.(phase);
    }
    return connection.read(phase, timeoutMs);
  };

  if (reset !== '') expectReset(await ask('mail', reset, timeouts.resetMs));
  const sender = await ask('mail', mail, timeouts.mailMs);
  state.needsReset = isSuccess(sender);
  if (!isSuccess(sender)) {
    refuseUnlessError('mail', sender);
    settle(progress, { kind: 'refused', phase: 'mail', reply: sender });
    if (sender.code === 421) return undefined;
    if (!pipelines) return 'not-asked';
  }
  for (const [index, command] of rcpts.entries()) {
    const reply = await ask('rcpt', command, timeouts.rcptMs);
    if (isSuccess(reply)) continue;
    refuseUnlessError('rcpt', reply);
    const refused = { kind: 'refused', phase: 'rcpt', reply } as const;
    if (reply.code === 421) {
      settle(progress, refused);
      return undefined;
    }
    progress.results[index] ??= refused;
  }
  if (!pipelines && progress.results.every((result) => result !== undefined)) return 'not-asked';
  return await ask('data', 'DATA\r\n', timeouts.dataMs);
}

/** The group of RFC 2920 3.1, with DATA as its last command. */
async function writeCommands(state: SessionState, envelope: Envelope, commands: string): Promise<void> {
  await state.connection.write('mail', `${commands}DATA\r\n`, state.timeouts.mailMs);
  for (const phase of ['mail', 'rcpt', 'data'] as const) envelope.onPhase?.(phase);
}

function mailCommand(
  { mailFrom, prefix, message }: Envelope,
  extensions: ReadonlyMap<string, string>,
): string {
  // RFC 1870 3: octets with CRLF as two, dots not doubled.
  const size = extensions.has('SIZE') ? ` SIZE=${prefix.length + message.length}` : '';
  // RFC 6152 3
  const body = extensions.has('8BITMIME') && hasEightBitBytes(message) ? ' BODY=8BITMIME' : '';
  return `MAIL FROM:<${mailFrom}>${size}${body}\r\n`;
}

function expectReset(reply: SmtpReply): void {
  if (reply.code === 421) throw new SmtpError({ phase: 'mail', kind: 'reply', reply });
  if (!isSuccess(reply)) throw protocolError('mail', `the answer to RSET was ${reply.code}`);
}

/** RFC 2920 3.1: DATA was accepted although every recipient was refused. A message without a byte ends it. */
async function endWithBareDot({ connection, timeouts }: SessionState): Promise<boolean> {
  await connection.write('dot', '.\r\n', timeouts.blockMs);
  return (await connection.read('dot', timeouts.dotMs)).code !== 421;
}

/** Writes the message and its final dot. Answers with a reply that came before the dot was sent, which ends the sending. */
async function sendMessage(
  state: SessionState,
  envelope: Envelope,
  progress: Progress,
): Promise<SmtpReply | undefined> {
  const { connection, timeouts } = state;
  const message = asBuffer(envelope.message);
  let written = 0;
  let pending: Buffer = asBuffer(envelope.prefix);
  while (message.length - written > SLICE_BYTES) {
    const slice = message.subarray(written, written + SLICE_BYTES);
    await connection.write(
      'body',
      Buffer.concat([pending, stuff(message, slice, written)]),
      timeouts.blockMs,
    );
    if (connection.hasReply) return connection.takeReply();
    written += slice.length;
    pending = EMPTY;
  }
  const rest = message.subarray(written);
  const end = Buffer.concat([pending, stuff(message, rest, written), finalDot(message)]);
  const half = envelope.onPhase ? end.length >> 1 : 0;
  if (half > 0) await connection.write('body', end.subarray(0, half), timeouts.blockMs);
  envelope.onPhase?.('body');
  if (connection.hasReply) return connection.takeReply();
  progress.dotSent = connection.isOpen;
  await connection.write('body', end.subarray(half), timeouts.blockMs);
  envelope.onPhase?.('dot');
  return undefined;
}

const EMPTY = Buffer.alloc(0);

function stuff(message: Buffer, slice: Buffer, offset: number): Buffer {
  return stuffDots(slice, offset === 0 || message[offset - 1] === 0x0a);
}

/** RFC 5321 4.1.1.4: the CRLF that ends the last line, then the dot. */
function finalDot(message: Buffer): Buffer {
  return Buffer.from(message.at(-1) === 0x0a || message.length === 0 ? '.\r\n' : '\r\n.\r\n');
}

/** A peer that answers before the dot has made up its mind; only a refusal can be believed. */
function settleEarly(progress: Progress, reply: SmtpReply): false {
  refuseUnlessError('body', reply);
  settle(progress, { kind: 'refused', phase: 'body', reply });
  return false;
}

function isSuccess(reply: SmtpReply): boolean {
  return reply.code >= 200 && reply.code < 300;
}

function refuseUnlessError(phase: SmtpPhase, reply: SmtpReply): void {
  if (reply.code < 400) throw protocolError(phase, `the peer answered ${reply.code} out of turn`);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
