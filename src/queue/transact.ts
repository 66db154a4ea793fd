/**
 * The conversation with a domain's hosts, in order of preference, until one has given every recipient a verdict.
 * A host that cannot be talked to passes on to the next (RFC 5321 5.1); what nobody decides is deferred.
 */
import type { App } from '../app.ts';
import { type OpenedSmtp, openSmtp, type SmtpSession } from '../mail/smtp/client.ts';
import type { SmtpFailure, SmtpPhase } from '../mail/smtp/failure.ts';
import { DEFAULT_SMTP_TIMEOUTS, LATER_SMTP_TIMEOUTS } from '../mail/smtp/timeouts.ts';
import type { RecipientResult } from '../mail/smtp/transaction.ts';
import { withTimeout } from '../system/clock.ts';
import type { CrashPointName } from '../system/crash-point.ts';
import { errorMessage } from '../system/errors.ts';
import type { Delivery } from './claim.ts';
import { classifyRefusal } from './classify.ts';
import { NO_REPORT, type Outcome, type Peer, reportFailure, reportReply } from './outcome.ts';
import type { PreparedMessage } from './prepare.ts';
import type { Hosts } from './route.ts';

type SmtpApp = Pick<App, 'clock' | 'dial' | 'config' | 'crashPoint'>;

/** Everything with all hosts together; below the lease (claim.ts), so that a stuck peer never makes two deliveries. */
const DELIVERY_DEADLINE_MS = 45 * 60_000;
/** A failed handshake falls back to plain text from the second attempt on, as Postfix does (engine.md 3, rule 4). */
const PLAIN_TEXT_FROM_ATTEMPT = 2;

/** Answers one outcome for each recipient, in the delivery's order. */
export async function transact(
  app: SmtpApp,
  delivery: Delivery,
  hosts: Hosts,
  message: PreparedMessage,
): Promise<Outcome[]> {
  const deadline = app.clock.elapsed() + DELIVERY_DEADLINE_MS;
  const outcomes = new Map<string, Outcome>();
  let undecided = delivery.recipients.map((recipient) => recipient.address);
  for (const { name, address } of targets(hosts)) {
    if (undecided.length === 0 || app.clock.elapsed() >= deadline) break;
    const peer: Peer = { mx: name, address, tls: null };
    const results = await tryHost(app, { delivery, peer, deadline, message, recipients: undecided });
    for (const [to, { outcome }] of results) outcomes.set(to, outcome);
    undecided = undecided.filter((to) => results.get(to)?.tryNextHost);
  }
  return delivery.recipients.map(({ address }) => outcomes.get(address) ?? NOBODY_ANSWERED);
}

const NOBODY_ANSWERED: Outcome = {
  kind: 'deferred',
  report: { ...NO_REPORT, phase: 'connect', text: 'No host of the domain could be reached' },
};

function targets(hosts: Hosts): { name: string; address: string }[] {
  return hosts.flatMap(({ name, addresses }) => addresses.map((address) => ({ name, address })));
}

type HostAttempt = {
  delivery: Delivery;
  peer: Peer;
  /** On the monotonic clock. */
  deadline: number;
  message: PreparedMessage;
  recipients: readonly string[];
};

type HostResult = { outcome: Outcome; tryNextHost: boolean };

async function tryHost(app: SmtpApp, attempt: HostAttempt): Promise<Map<string, HostResult>> {
  const { delivery, peer, deadline, message, recipients } = attempt;
  const opened = await openBefore(app, deadline, open(app, delivery, peer), peer);
  if (!opened.ok) {
    const outcome = judgeFailure(peer, opened.failure);
    return new Map(recipients.map((to) => [to, { outcome, tryNextHost: outcome.kind === 'deferred' }]));
  }
  const { session } = opened;
  const timer = app.clock.after(deadline - app.clock.elapsed(), () => session.close());
  const results = await converse(app, session, message, recipients).finally(() => timer.cancel());
  const spoken: Peer = { ...peer, tls: session.tls?.version ?? null };
  return new Map(
    recipients.map((to, index) => {
      const result = results[index];
      if (!result) throw new Error('the SMTP client gave fewer results than recipients');
      return [to, { outcome: judge(spoken, result), tryNextHost: !isFinal(result) }];
    }),
  );
}

/** A conversation that opens too late is closed again: by then the delivery has been settled without it. */
async function openBefore(
  app: SmtpApp,
  deadline: number,
  opening: Promise<OpenedSmtp>,
  peer: Peer,
): Promise<OpenedSmtp> {
  try {
    return await withTimeout(app.clock, deadline - app.clock.elapsed(), `opening ${peer.mx}`, opening);
  } catch (error) {
    void opening.then((opened) => opened.ok && opened.session.close());
    return { ok: false, failure: { phase: 'connect', kind: 'timeout', message: errorMessage(error) } };
  }
}

async function open(app: SmtpApp, delivery: Delivery, peer: Peer) {
  const attempts = Math.max(...delivery.recipients.map((recipient) => recipient.attempts));
  const options = {
    address: peer.address ?? '',
    port: app.config.outbound.smtpPort,
    serverName: peer.mx ?? '',
    heloName: app.config.hostname,
    timeouts: attempts === 1 ? DEFAULT_SMTP_TIMEOUTS : LATER_SMTP_TIMEOUTS,
    onPhase: crashOn(app),
  };
  const opened = await openSmtp(app, { ...options, tls: 'opportunistic' });
  if (opened.ok || opened.failure.kind !== 'tls' || attempts < PLAIN_TEXT_FROM_ATTEMPT) return opened;
  return openSmtp(app, { ...options, tls: 'none' });
}

async function converse(
  app: SmtpApp,
  session: SmtpSession,
  message: PreparedMessage,
  recipients: readonly string[],
): Promise<RecipientResult[]> {
  const { recipients: results, usable } = await session.transact({
    mailFrom: message.returnPath,
    recipients,
    prefix: Buffer.from(message.signature ?? ''),
    message: message.bytes,
    onPhase: crashOn(app),
  });
  if (usable) void session.quit();
  else session.close();
  return results;
}

/** Whether no other host should be asked: this one said yes or no, or it may already have taken the mail. */
function isFinal(result: RecipientResult): boolean {
  return result.kind !== 'failed' || result.dotSent;
}

function judge(peer: Peer, result: RecipientResult): Outcome {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', report: reportReply(peer, 'dot', result.reply) };
    case 'refused':
      return classifyRefusal(peer, result.phase, result.reply);
    case 'failed':
      return judgeFailure(peer, result.failure);
  }
}

function judgeFailure(peer: Peer, failure: SmtpFailure): Outcome {
  if (failure.kind === 'reply') return classifyRefusal(peer, failure.phase, failure.reply);
  return { kind: 'deferred', report: reportFailure(peer, failure) };
}

const CRASH_POINT_OF_PHASE: Partial<Record<SmtpPhase, CrashPointName>> = {
  connect: 'smtp-connected',
  mail: 'smtp-after-mail',
  body: 'smtp-mid-data',
  dot: 'smtp-after-dot',
};

function crashOn(app: SmtpApp): (phase: SmtpPhase) => void {
  return (phase) => {
    const point = CRASH_POINT_OF_PHASE[phase];
    if (point) app.crashPoint(point);
  };
}
