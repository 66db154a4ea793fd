/**
 * One mail transaction (RFC 5321 3.3): MAIL, RCPT for each recipient, DATA, the message, and the verdict on each
 * recipient. Where the peer offers PIPELINING (RFC 2920) the commands up to DATA go out in one packet, and those of the
 * next message together with this one's final dot. Replies are then read in turn: a transaction writes when the one
 * before it is `ready`, and reads when that one is done.
 */

import type { SmtpReply } from '../reply.ts';
import type { SmtpConnection } from './connection.ts';
import { type Envelope, findFault, mailCommand, rcptCommand, refuseSize } from './envelope.ts';
import { protocolError, SmtpError, type SmtpFailure, type SmtpPhase } from './failure.ts';
import { sendContent } from './message.ts';
import type { SmtpTimeouts } from './timeouts.ts';

export type RecipientResult =
  | { kind: 'accepted'; reply: SmtpReply }
  /** The peer's verdict; with code 421 it spoke of the session rather than of the recipient. */
  | { kind: 'refused'; phase: SmtpPhase; reply: SmtpReply }
  /**
   * No verdict. With `dotSent` the peer may have taken the message all the same. `untried`: the session ended before
   * the peer answered any command of this transaction, so it tells nothing about the message, and a new session may try
   * without counting this one. A session's first transaction is never untried: each new session makes headway.
   */
  | { kind: 'failed'; failure: SmtpFailure; dotSent: boolean; untried: boolean };

export type TransactionResult = {
  /** In the envelope's order. */
  recipients: RecipientResult[];
  /** Whether the session may carry another transaction. */
  usable: boolean;
};

export type Transaction = {
  /** The next transaction may begin: with PIPELINING as soon as the final dot has been written, else when the result is
   * there. Never rejects. */
  ready: Promise<void>;
  /** Rejects for faults of this side alone: what `onPhase` or the chunks throw, and a malformed message (message.ts). */
  result: Promise<TransactionResult>;
};

/** What of a session outlives a transaction. */
export type SessionState = {
  readonly connection: SmtpConnection;
  readonly extensions: ReadonlyMap<string, string>;
  readonly timeouts: SmtpTimeouts;
  /** The transaction begun last. Its promises never reject. */
  last: { ready: Promise<void>; done: Promise<void> };
  /** Transactions whose commands were sent and whose result is not there: two at most. */
  pending: number;
  /** Whether any transaction has been on the wire. */
  isUsed: boolean;
  /** A transaction has ended the session; what follows it was not tried. */
  isOver: boolean;
  /** The peer may still hold a transaction that ended early; RSET comes before the next one. */
  needsReset: boolean;
};

export function newSession(
  connection: SmtpConnection,
  extensions: ReadonlyMap<string, string>,
  timeouts: SmtpTimeouts,
): SessionState {
  const last = { ready: Promise.resolve(), done: Promise.resolve() };
  const flags = { isUsed: false, isOver: false, needsReset: false };
  return { connection, extensions, timeouts, last, pending: 0, ...flags };
}

/** What a peer does wrong is in the result; the session is closed wherever it cannot be used again. Transactions begun
 * too early wait for their turn. */
export function transact(state: SessionState, envelope: Envelope): Transaction {
  const { promise: ready, resolve: markReady } = Promise.withResolvers<void>();
  const result = run(state, envelope, state.last, markReady);
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
  previous: SessionState['last'],
  markReady: () => void,
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
    isIntact = await converse(state, envelope, { commands, progress, markReady });
  } catch (error) {
    if (!(error instanceof SmtpError)) throw error;
    const { dotSent, untried } = progress;
    settle(progress, { kind: 'failed', failure: error.failure, dotSent, untried });
  } finally {
    state.pending -= 1;
    if (!isIntact) end(state);
  }
  const recipients = progress.results.filter((result) => result !== undefined);
  return { recipients, usable: carriesOn(state) };
}

/** What the wire must not see, and what a server need not be asked. */
function refuseLocally(state: SessionState, envelope: Envelope): RecipientResult | undefined {
  const failure = findFault(envelope);
  if (failure) return { kind: 'failed', failure, dotSent: false, untried: false };
  const reply = refuseSize(envelope, state.extensions);
  return reply && { kind: 'refused', phase: 'mail', reply };
}

function carriesOn(state: SessionState): boolean {
  const { connection } = state;
  // A reply nobody asked for would be taken for the answer to the next command.
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

/** Gives every recipient without a verdict this one. */
function settle(progress: Progress, result: RecipientResult): void {
  for (const [index, known] of progress.results.entries()) progress.results[index] = known ?? result;
}

type Commands = { reset: string; mail: string; rcpts: string[] };

/** With PIPELINING everything up to DATA is sent: the group of RFC 2920 3.1, which may begin with the end of the message
 * before, and ends with DATA. */
function begin(state: SessionState, envelope: Envelope): Commands {
  const { connection, extensions } = state;
  const isAlone = state.pending === 0;
  state.pending += 1;
  refuseIfOver(state);
  if (isAlone) refuseSurprise(connection);
  const reset = state.needsReset ? 'RSET\r\n' : '';
  const mail = mailCommand(envelope, extensions);
  const rcpts = envelope.recipients.map(rcptCommand);
  state.needsReset = false;
  state.isUsed = true;
  if (isPipelining(state)) {
    const commands = [...(reset === '' ? [] : [reset]), mail, ...rcpts, 'DATA\r\n'];
    connection.send(commands.join(''), commands.length);
  }
  return { reset, mail, rcpts };
}

function isPipelining({ extensions }: SessionState): boolean {
  return extensions.has('PIPELINING');
}

/** A reply before anything was asked is a goodbye (421 4.4.2 to an idle session) or nonsense. */
function refuseSurprise(connection: SmtpConnection): void {
  if (!connection.hasInput) return;
  const reply = connection.takeReply();
  if (reply?.code === 421) throw new SmtpError({ phase: 'mail', kind: 'reply', reply });
  throw protocolError('mail', 'the peer spoke before it was asked');
}

/** For those who want to know the moment, what was sent is handed to the system first. */
async function announce(
  state: SessionState,
  envelope: Envelope,
  phases: readonly SmtpPhase[],
): Promise<void> {
  if (!envelope.onPhase) return;
  await state.connection.flushed();
  for (const phase of phases) envelope.onPhase(phase);
}

type Conversation = { commands: Commands; progress: Progress; markReady: () => void };

/** True when the session is in a state to carry on. */
async function converse(
  state: SessionState,
  envelope: Envelope,
  { commands, progress, markReady }: Conversation,
): Promise<boolean> {
  const { connection, timeouts } = state;
  const data = await sendEnvelope(state, envelope, commands, progress);
  if (data === undefined) return false;
  if (data === 'not-asked') return true;
  if (data.code !== 354) {
    refuseUnlessError('data', data);
    settle(progress, { kind: 'refused', phase: 'data', reply: data });
    return data.code !== 421;
  }
  if (progress.results.every((result) => result !== undefined)) return await endWithBareDot(state);
  const finalDot = await sendContent(connection, envelope, timeouts.blockMs);
  if (finalDot === undefined) return settleEarly(progress, await connection.read('body', timeouts.blockMs));
  progress.dotSent = connection.isOpen;
  connection.send(finalDot, 1);
  // RFC 5321 4.1.1.4: whatever the verdict, the transaction is over.
  state.needsReset = false;
  if (isPipelining(state)) markReady();
  await announce(state, envelope, ['dot']);
  const verdict = await connection.read('dot', timeouts.dotMs);
  if (isSuccess(verdict)) {
    settle(progress, { kind: 'accepted', reply: verdict });
    return true;
  }
  refuseUnlessError('dot', verdict);
  settle(progress, { kind: 'refused', phase: 'dot', reply: verdict });
  return verdict.code !== 421;
}

/**
 * MAIL, RCPT and DATA. Answers with the reply to DATA; `not-asked` where nobody is left to send to and DATA was not
 * sent; undefined after a 421, which ends the session in any phase (RFC 5321 3.8).
 */
async function sendEnvelope(
  state: SessionState,
  envelope: Envelope,
  { reset, mail, rcpts }: Commands,
  progress: Progress,
): Promise<SmtpReply | 'not-asked' | undefined> {
  const { connection, timeouts } = state;
  const pipelines = isPipelining(state);
  const ask = async (phase: SmtpPhase, command: string, timeoutMs: number): Promise<SmtpReply> => {
    if (!pipelines) {
      connection.send(command, 1);
      if (command !== reset) await announce(state, envelope, [phase]);
    }
    const reply = await connection.read(phase, timeoutMs);
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

function expectReset(reply: SmtpReply): void {
  if (reply.code === 421) throw new SmtpError({ phase: 'mail', kind: 'reply', reply });
  if (!isSuccess(reply)) throw protocolError('mail', `the answer to RSET was ${reply.code}`);
}

/** RFC 2920 3.1: DATA was accepted although every recipient was refused. A message without a byte ends it. */
async function endWithBareDot({ connection, timeouts }: SessionState): Promise<boolean> {
  connection.send('.\r\n', 1);
  return (await connection.read('dot', timeouts.dotMs)).code !== 421;
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
