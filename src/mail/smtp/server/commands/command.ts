/** Types that every command uses: the connection that it runs on, and the command itself. */
import type { Socket } from 'node:net';
import { AppError } from '../../../../system/errors.ts';
import type { ListenerContext } from '../../../connection/listener.ts';
import type { Slot, SlotState } from '../../../connection/occupancy.ts';
import type { ChannelBinding } from '../../../sasl/channel-binding.ts';
import { refusalReply } from '../../refusal.ts';
import { ConnectionFault, type FaultReason } from '../fault.ts';
import { formatReply, reply } from '../format-reply.ts';
import type { SmtpMetrics } from '../metrics.ts';
import type { SmtpLimits, SmtpServerOptions } from '../options.ts';
import type { Reply, Sender, Session, SmtpClient } from '../session.ts';
import type { AttachedWire } from '../wire.ts';

/** State and settings that all connections of a listener share. */
export type SmtpContext = ListenerContext<SmtpServerOptions, SmtpLimits, ConnectionFault> & {
  metrics: SmtpMetrics;
  /**
   * Counts a connection of this address, which a proxy may have named. Returns false when no limits apply to the address.
   * @throws ConnectionFault beyond the limits
   */
  limitAddress(socket: Socket, address: string, isProxied: boolean): boolean;
};

export type Connection = AttachedWire & {
  readonly context: SmtpContext;
  readonly session: Session;
  readonly slot: Slot;
  /** Socket of the network, or of TLS on top of it. */
  readonly socket: Socket;
  client: SmtpClient;
  /** Values to which a login may be bound; undefined where there are none, and where nobody logs in. */
  readonly binding: ChannelBinding | undefined;
  /** Time at which the connection began, on the monotonic clock. */
  readonly beganAt: number;
  transaction: Transaction | undefined;
  /** Counts since the beginning or the last accepted message. */
  readonly counts: {
    errors: number;
    idleCommands: number;
    refusedRecipients: number;
    deferredRecipients: number;
  };
  /** True when the limits for each address do not apply to the client. */
  isExempt: boolean;
  isOpen: boolean;
  /** True once the client has logged in. */
  isLoggedIn: boolean;
  /** Maximum number of recipients of a message, as EHLO tells it. The session refuses more where its limit is the smaller one. */
  maxRecipients: number;
  /** False when the client has logged in as somebody for whom DSN is not offered. */
  hasNotifications: boolean;
  /** Runs one command line and sends its reply. */
  runLine(line: string): Promise<unknown>;
};

export type Transaction = {
  sender: Sender;
  /** Client with the protocol of this transaction. */
  client: SmtpClient;
  /** Number of accepted recipients. */
  recipients: number;
  /** True once the first BDAT has come. */
  isChunked: boolean;
};

export type Command = {
  /** Returns the reply; undefined when it was sent already. */
  run(connection: Connection, argument: string): Reply | Promise<Reply | undefined> | undefined;
  /** The command does not lead to a message. `idleCommands` limits their number. */
  isIdle?: true;
  /**
   * `within`: the reply may wait for those of later commands, and leaves with them (RFC 2920 section 3.2). `last`: the
   * client must wait for the reply before it sends more (RFC 2920 section 3.1), and the connection of one that does not
   * is ended, so that nothing of it is read in another sense than the client meant. Other replies are sent at once.
   */
  group?: 'within' | 'last';
};

/** Reply to STARTTLS, after which the client begins anew on an encrypted connection. */
export const READY_FOR_TLS = reply(220, '2.0.0', 'Ready to start TLS');
export const BAD_SEQUENCE: Reply = { code: 503, status: '5.5.1', text: 'This command is out of sequence' };
export const BAD_ARGUMENT = reply(501, '5.5.4', 'The argument of the command is malformed');

/** Returns true while the client must log in, and may do little else. */
export function needsLogin({ context, isLoggedIn }: Pick<Connection, 'context' | 'isLoggedIn'>): boolean {
  return context.options.submission !== undefined && !isLoggedIn;
}

/** Returns true when the client may give parameters about notifications (RFC 3461). */
export function offersNotifications({
  context: { options },
  hasNotifications,
}: Pick<Connection, 'context' | 'hasNotifications'>): boolean {
  return options.submission ? hasNotifications : options.offersNotifications === true;
}

/** Returns the limits of a client, which are tight while the listener is nearly full. */
export function limitsOf({
  context,
  isLoggedIn,
  isExempt,
}: Pick<Connection, 'context' | 'isLoggedIn' | 'isExempt'>): SmtpLimits {
  return context.occupancy.isStressed && !isLoggedIn && !isExempt ? context.stressLimits : context.limits;
}

/** Returns the time for the next line of the client. Until its login it is within `loginMs` of the beginning. */
export function lineMs(
  connection: Pick<Connection, 'context' | 'isLoggedIn' | 'isExempt' | 'beganAt'>,
): number {
  const { context, beganAt } = connection;
  const { commandMs, loginMs } = limitsOf(connection);
  if (!needsLogin(connection)) return commandMs;
  const untilLogin = beganAt + loginMs - context.clock.elapsed();
  return Math.max(0, Math.min(commandMs, untilLogin));
}

/** Asks the session. An error that it throws is a refusal. */
export async function ask(
  { context, session }: Connection,
  hook: 'connect' | 'ehlo' | 'mail' | 'rcpt',
  question: (session: Session) => Promise<Reply | undefined>,
): Promise<Reply | undefined> {
  try {
    const refusal = await question(session);
    if (refusal) context.metrics.refused(hook);
    return refusal;
  } catch (error) {
    context.metrics.refused(hook);
    return replyToError(context, error);
  }
}

/** Returns the reply to an error of a session, and logs one that is no refusal. */
export function replyToError({ log }: Pick<SmtpContext, 'log'>, error: unknown): Reply {
  if (!(error instanceof AppError)) log.error({ err: error }, 'SMTP session failed');
  return refusalReply(error);
}

/** Sends a reply, after which a 421 ends the connection. Refusals are counted as errors unless they are counted elsewhere. */
export function sendReply(connection: Connection, reply: Reply, isCounted = reply.code >= 400): void {
  connection.wire.hold(formatReply(reply));
  if (isCounted) connection.counts.errors++;
  if (reply.code === 421) connection.isOpen = false;
}

/** Says how far the client has come, which decides whether its connection can be ended for a newcomer. */
export function enterSlot(
  { slot, isLoggedIn, isExempt }: Pick<Connection, 'slot' | 'isLoggedIn' | 'isExempt'>,
  state: SlotState,
): void {
  slot.enter(isLoggedIn || isExempt ? 'protected' : state);
}

/** Forgets the transaction. */
export function endTransaction(connection: Connection): void {
  if (!connection.transaction) return;
  connection.transaction = undefined;
  enterSlot(connection, 'waiting');
  connection.session.reset();
}

/** Ends the connection, after a last reply, because of what the client did. */
export function fault(reason: FaultReason, reply: Reply): never {
  throw new ConnectionFault(reason, reply);
}

/** Returns the end of the connection of a client that sends more of a refused message than the server reads and drops. */
export function endlessMessage(): ConnectionFault {
  return new ConnectionFault('message_size', reply(552, '5.3.4', 'The message is too large'));
}

/** Returns the reply to a client for which the listener has no connection left. X.3.2 is a system that takes nothing for now (RFC 3463 section 3.4). */
export function tooManyConnections({ hostname }: Pick<SmtpServerOptions, 'hostname'>): Reply {
  return { code: 421, status: '4.3.2', text: `${hostname} has too many connections` };
}

/** Returns the verb of a line in upper case. Spaces at the end are ignored (RFC 5321 section 4.1.1). */
export function splitLine(line: string): { verb: string; argument: string } {
  const trimmed = line.trimEnd();
  const space = trimmed.indexOf(' ');
  if (space < 0) return { verb: trimmed.toUpperCase(), argument: '' };
  return { verb: trimmed.slice(0, space).toUpperCase(), argument: trimmed.slice(space + 1).trimStart() };
}
