/**
 * Runs one mail transaction (RFC 5321 section 3.3): MAIL, RCPT for each recipient, DATA, the message, and the verdict on each
 * recipient. When the peer offers PIPELINING (RFC 2920), the commands up to DATA go out in one packet, together with the
 * final dot of the previous message. Replies arrive in order: a transaction writes when the previous one is `ready`, and
 * reads when the previous one is done.
 */

import type { SmtpReply } from '../reply.ts';
import { readReply, sendCommands } from './command.ts';
import type { SmtpConnection } from './connection.ts';
import {
  type Envelope,
  findFault,
  mailCommand,
  rcptCommands,
  refuseSize,
  refuseUtf8,
  refuseWithoutTls,
} from './envelope.ts';
import { protocolError, SmtpError, type SmtpFailure, type SmtpPhase } from './failure.ts';
import { sendContent } from './message.ts';
import { recipientsLimitMs, type SmtpTimeouts } from './timeouts.ts';

export type RecipientResult =
  | { kind: 'accepted'; reply: SmtpReply }
  /** Verdict of the peer. With code 421 it concerns the session rather than the recipient. */
  | { kind: 'refused'; phase: SmtpPhase; reply: SmtpReply }
  /**
   * There is no verdict. With `dotSent` the peer may still have taken the message. `untried` means that the session ended
   * before the peer answered any command of this transaction: that says nothing about the message, and a new session may
   * try without counting this one. The first transaction of a session is never untried, so that each new session makes
   * progress.
   */
  | { kind: 'failed'; failure: SmtpFailure; dotSent: boolean; untried: boolean };

export type TransactionResult = {
  /** Results in the order of `Envelope.recipients`. */
  recipients: RecipientResult[];
  /** True when the session may carry another transaction. */
  usable: boolean;
};

export type Transaction = {
  /**
   * Resolves when the next transaction may begin: with PIPELINING as soon as the final dot is written, otherwise with the
   * result. Never rejects.
   */
  ready: Promise<void>;
  /** Rejects only for faults of this side: errors of `onPhase` or the chunks, and a malformed message (message.ts). */
  result: Promise<TransactionResult>;
};

/** The state of a session that outlives a transaction. */
export type SessionState = {
  readonly connection: SmtpConnection;
  readonly extensions: ReadonlyMap<string, string>;
  readonly timeouts: SmtpTimeouts;
  /** The most recently begun transaction. Its promises never reject. */
  last: { ready: Promise<void>; done: Promise<void> };
  /** Number of transactions whose commands were sent and that have no result yet. It is at most two. */
  pending: number;
  /** True once a transaction has sent a command. */
  isUsed: boolean;
  /** True once a transaction has ended the session. Later transactions are not tried. */
  isOver: boolean;
  /** True when the peer may still hold a transaction that ended early, so that RSET must come before the next one. */
  needsReset: boolean;
};

/** Returns the state of a session that has not sent a transaction yet. */
export function newSession(
  connection: SmtpConnection,
  extensions: ReadonlyMap<string, string>,
  timeouts: SmtpTimeouts,
): SessionState {
  const last = { ready: Promise.resolve(), done: Promise.resolve() };
  const flags = { isUsed: false, isOver: false, needsReset: false };
  return { connection, extensions, timeouts, last, pending: 0, ...flags };
}

/**
 * Begins a transaction. Errors of the peer are part of the result, and they close a session that cannot be used again. A
 * transaction that is begun early waits for the previous one.
 */
export function transact(state: SessionState, envelope: Envelope): Transaction {
  const { promise: ready, resolve: markReady } = Promise.withResolvers<void>();
  const result = run(state, envelope, { previous: state.last, markReady });
  const done = result.then(
    () => markReady(),
    () => markReady(),
  );
  state.last = { ready, done };
  return { ready, result };
}

type Progress = { results: (RecipientResult | undefined)[]; dotSent: boolean; untried: boolean };

async function run(
  state: SessionState,
  envelope: Envelope,
  { previous, markReady }: { previous: SessionState['last']; markReady: () => void },
): Promise<TransactionResult> {
  await previous.ready;
  const refusal = refuseLocally(state, envelope);
  if (refusal) {
    await previous.done;
    return { recipients: envelope.recipients.map(() => refusal), usable: carriesOn(state) };
  }
  const progress: Progress = {
    results: envelope.recipients.map(() => undefined),
    dotSent: false,
    untried: state.isUsed,
  };
  let isIntact = false;
  try {
    const commands = begin(state, envelope);
    if (isPipelining(state)) await announce(state, envelope, ['mail', 'rcpt', 'data']);
    await previous.done;
    refuseIfOver(state);
    isIntact = await exchange(state, envelope, { commands, progress, markReady });
  } catch (error) {
    if (!(error instanceof SmtpError)) throw error;
    const { dotSent, untried } = progress;
    const { failure } = error;
    if (failure.kind !== 'reply') envelope.observer?.({ kind: 'failed', failure });
    settle(progress, { kind: 'failed', failure, dotSent, untried });
  } finally {
    state.pending -= 1;
    if (!isIntact) end(state);
  }
  const recipients = progress.results.filter((result) => result !== undefined);
  return { recipients, usable: carriesOn(state) };
}

/** Returns the result of a transaction that must not, or need not, be sent to the server. */
function refuseLocally(state: SessionState, envelope: Envelope): RecipientResult | undefined {
  const failure = findFault(envelope);
  if (failure) return { kind: 'failed', failure, dotSent: false, untried: false };
  const { extensions } = state;
  const reply =
    refuseWithoutTls(envelope, extensions) ??
    refuseUtf8(envelope, extensions) ??
    refuseSize(envelope, extensions);
  return reply && { kind: 'refused', phase: 'mail', reply };
}

function carriesOn(state: SessionState): boolean {
  const { connection } = state;
  // An unexpected reply would be mistaken for the answer to the next command.
  if (state.pending === 0 && connection.hasInput) end(state);
  return !state.isOver && connection.isOpen;
}

function end(state: SessionState): void {
  state.isOver = true;
  state.connection.destroy();
}

function refuseIfOver(state: SessionState): void {
  if (!state.isOver) return;
  const message = 'the session ended with the message before';
  throw new SmtpError({ phase: 'mail', kind: 'connection', message });
}

/** Gives this result to every recipient that has none. */
function settle(progress: Progress, result: RecipientResult): void {
  for (const [index, known] of progress.results.entries()) progress.results[index] = known ?? result;
}

type Commands = { reset: string; mail: string; rcpts: string[] };

/**
 * Returns the commands of a transaction. With PIPELINING it also sends them, up to DATA: a command group of RFC 2920 section 3.1
 * may begin with the end of the previous message, and it ends with DATA.
 */
function begin(state: SessionState, envelope: Envelope): Commands {
  const { connection, extensions } = state;
  const isAlone = state.pending === 0;
  state.pending += 1;
  refuseIfOver(state);
  if (isAlone) refuseSurprise(connection, envelope);
  const reset = state.needsReset ? 'RSET\r\n' : '';
  const mail = mailCommand(envelope, extensions);
  const rcpts = rcptCommands(envelope, extensions);
  state.needsReset = false;
  state.isUsed = true;
  if (isPipelining(state)) {
    const commands = [...(reset === '' ? [] : [reset]), mail, ...rcpts, 'DATA\r\n'];
    const { observer } = envelope;
    sendCommands(connection, { commands: commands.join(''), replies: commands.length, observer });
  }
  return { reset, mail, rcpts };
}

function isPipelining({ extensions }: SessionState): boolean {
  return extensions.has('PIPELINING');
}

/** A reply before the first command is a goodbye (421 4.4.2 to an idle session) or a protocol error. */
function refuseSurprise(connection: SmtpConnection, { observer }: Envelope): void {
  if (!connection.hasInput) return;
  const reply = connection.takeReply();
  if (reply) observer?.({ kind: 'received', reply });
  if (reply?.code === 421) throw new SmtpError({ phase: 'mail', kind: 'reply', reply });
  throw protocolError('mail', 'the peer spoke before it was asked');
}

/** Calls `onPhase`, if it is set, once the bytes sent so far have been handed to the operating system. */
async function announce(
  state: SessionState,
  envelope: Envelope,
  phases: readonly SmtpPhase[],
): Promise<void> {
  if (!envelope.onPhase) return;
  await state.connection.flushed();
  for (const phase of phases) envelope.onPhase(phase);
}

type Exchange = { commands: Commands; progress: Progress; markReady: () => void };

/** Exchanges commands and replies with the peer. Returns true when the session can be used again. */
async function exchange(
  state: SessionState,
  envelope: Envelope,
  { commands, progress, markReady }: Exchange,
): Promise<boolean> {
  const { connection, timeouts } = state;
  const data = await sendEnvelope(state, envelope, { commands, progress });
  if (data === undefined) return false;
  if (data === 'not-asked') return true;
  if (data.code !== 354) {
    refuseUnlessError('data', data);
    settle(progress, { kind: 'refused', phase: 'data', reply: data });
    return data.code !== 421;
  }
  if (progress.results.every((result) => result !== undefined)) return await endWithBareDot(state, envelope);
  const finalDot = await sendContent(connection, envelope, timeouts);
  const { observer } = envelope;
  const readEarly = () => readReply(connection, { phase: 'body', timeoutMs: timeouts.blockMs, observer });
  if (finalDot === undefined) return settleEarly(progress, await readEarly());
  const wait = envelope.mayEnd?.();
  if (wait !== undefined) {
    await wait;
    if (connection.hasReply) return settleEarly(progress, await readEarly());
  }
  progress.dotSent = connection.isOpen;
  connection.send(finalDot, 1);
  observer?.({ kind: 'content', sizeBytes: envelope.prefix.length + envelope.message.sizeBytes });
  // Any verdict ends the transaction (RFC 5321 section 4.1.1.4).
  state.needsReset = false;
  if (isPipelining(state)) markReady();
  await announce(state, envelope, ['dot']);
  const verdict = await readReply(connection, { phase: 'dot', timeoutMs: timeouts.dotMs, observer });
  if (isSuccess(verdict)) {
    settle(progress, { kind: 'accepted', reply: verdict });
    return true;
  }
  refuseUnlessError('dot', verdict);
  settle(progress, { kind: 'refused', phase: 'dot', reply: verdict });
  return verdict.code !== 421;
}

/**
 * Sends MAIL, RCPT and DATA. Returns the reply to DATA, `not-asked` when no recipient is left and DATA was not sent, or
 * undefined after a 421, which ends the session in any phase (RFC 5321 section 3.8).
 */
async function sendEnvelope(
  state: SessionState,
  envelope: Envelope,
  { commands: { reset, mail, rcpts }, progress }: Pick<Exchange, 'commands' | 'progress'>,
): Promise<SmtpReply | 'not-asked' | undefined> {
  const { connection, timeouts } = state;
  const { observer } = envelope;
  const pipelines = isPipelining(state);
  const ask = async (phase: SmtpPhase, command: string, timeoutMs: number): Promise<SmtpReply> => {
    if (!pipelines) {
      sendCommands(connection, { commands: command, replies: 1, observer });
      if (command !== reset) await announce(state, envelope, [phase]);
    }
    const reply = await readReply(connection, { phase, timeoutMs, observer });
    progress.untried &&= command === reset;
    return reply;
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
  const until = connection.now + recipientsLimitMs(timeouts, rcpts.length);
  for (const [index, command] of rcpts.entries()) {
    const leftMs = Math.max(until - connection.now, 0);
    const reply = await ask('rcpt', command, Math.min(timeouts.rcptMs, leftMs));
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

function expectReset(reply: SmtpReply): void {
  if (reply.code === 421) throw new SmtpError({ phase: 'mail', kind: 'reply', reply });
  if (!isSuccess(reply)) throw protocolError('mail', `the answer to RSET was ${reply.code}`);
}

/** Ends a DATA that was accepted although every recipient was refused, by sending an empty message (RFC 2920 section 3.1). */
async function endWithBareDot(
  { connection, timeouts }: SessionState,
  { observer }: Envelope,
): Promise<boolean> {
  sendCommands(connection, { commands: '.\r\n', replies: 1, observer });
  const reply = await readReply(connection, { phase: 'dot', timeoutMs: timeouts.dotMs, observer });
  return reply.code !== 421;
}

/** Settles a transaction that the peer answered before the final dot. Only a refusal is accepted as an answer. */
function settleEarly(progress: Progress, reply: SmtpReply): false {
  refuseUnlessError('body', reply);
  settle(progress, { kind: 'refused', phase: 'body', reply });
  return false;
}

/** Returns true for a reply of class 2. */
export function isSuccess(reply: SmtpReply): boolean {
  return reply.code >= 200 && reply.code < 300;
}

function refuseUnlessError(phase: SmtpPhase, reply: SmtpReply): void {
  if (reply.code < 400) throw protocolError(phase, `the peer answered ${reply.code} out of turn`);
}
