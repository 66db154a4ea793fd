/**
 * Opens a session with a site. The hosts are tried in order of preference (RFC 5321 section 5.1), each address with the TLS
 * that it supports. The steps of opportunistic TLS (RFC 7435) are STARTTLS without verification; after a failed
 * handshake, the smallest ClientHello; then plain text, only for mail that has waited. Plain text then applies to all
 * mail for that address for 24 hours. A session with a relay of the operator is never less than verified TLS
 * (outbound-routes/relay.ts).
 */

import { isIPv6 } from 'node:net';
import type { App } from '../../app.ts';
import type { CrashPointName } from '../../crash-points.ts';
import type { SmtpFailure, SmtpPhase } from '../../mail/smtp/client/failure.ts';
import { type OpenedSmtp, openSmtp, type SmtpSession } from '../../mail/smtp/client/open.ts';
import type { SmtpOptions } from '../../mail/smtp/client/options.ts';
import {
  DEFAULT_SMTP_TIMEOUTS,
  LATER_SMTP_TIMEOUTS,
  PRESSED_TIMEOUT_MS,
} from '../../mail/smtp/client/timeouts.ts';
import type { HostTls } from '../../mail/tls-policy/host-tls.ts';
import { openRelay } from '../../outbound-routes/relay.ts';
import type { Relay } from '../../outbound-routes/route.ts';
import { TimeoutError, withTimeout } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import type { Claim } from '../claim.ts';
import { type Conversation, lastOpening, type Recorded, recordIn } from '../conversation/record.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import { evaluateFailure, evaluateUnprovenFailure } from '../outcome/evaluate.ts';
import { NO_REPORT, type Outcome, type Peer, type Report } from '../outcome/outcome.ts';
import { evaluateRelayFailure } from '../outcome/relay.ts';
import type { Route } from '../site/route.ts';
import type { Hosts, Source } from '../sources/source.ts';
import type { Sources } from '../sources/sources.ts';
import type { Addresses } from './addresses.ts';
import {
  daneIdentityFor,
  demandsProof,
  ignoresPolicies,
  isAuthenticName,
  mayCarry,
  NAME_UNPROVEN,
  NO_REQUIRETLS,
  NO_SMTPUTF8,
  nextHopOf,
  requirementOf,
  requiresTls,
  type Taker,
  understands,
} from './requirements.ts';

export type OpenSession = {
  smtp: SmtpSession;
  peer: Peer & { address: string };
  taker: Taker;
  /** The proof that the session had to give when it was opened. */
  proven: HostTls['kind'];
  /** Null when the session is one with a host of the recipients' domain. */
  relay: Relay | null;
  /** Null when the system has chosen the address that the session leaves from. */
  source: Source | null;
  /** How the session was opened. It is part of the conversation of each claim that is sent in the session. */
  opening: Conversation;
};
type Connected =
  | { kind: 'open'; session: OpenSession }
  /** `wasTried` is true when at least one host was contacted, so that the outcome says something about the site. */
  | { kind: 'closed'; outcome: Outcome; wasTried: boolean };

/**
 * Number of the attempt from which mail may be sent in plain text. Postfix has the same rule: a fault that lasts until
 * then is rarely temporary.
 */
const PLAIN_TEXT_FROM_ATTEMPT = 2;
const PLAIN_TEXT_FROM_AGE_MS = 5 * 60_000;
const NO_HOST_REACHED: Outcome = {
  kind: 'deferred',
  report: { ...NO_REPORT, phase: 'connect', text: 'No host of the domain could be reached', fact: 'network' },
};

/** The part of a claim that a session is opened for. */
type Sendable = Recorded &
  Pick<Claim, 'brokenOff'> & {
    message: Pick<Claim['message'], 'datedAt' | 'requireTls' | 'returnPath' | 'utf8'>;
    recipients: readonly Pick<Claim['recipients'][number], 'attempts' | 'domain' | 'queue'>[];
  };

/** The part of the app that opens sessions. */
export type ConnectApp = Pick<
  DeliveryApp,
  'clock' | 'dial' | 'config' | 'sealer' | 'replies' | 'crashPoint'
> & {
  trace: Pick<DeliveryApp['trace'], 'isWatched' | 'show'>;
  sources: Pick<Sources, 'dialFrom'>;
  tls: Pick<DeliveryApp['tls'], 'tickets' | 'observe'>;
};

/** The app of a session, whose connections leave from its source with the name of the source. */
type LeavingApp = ConnectApp & {
  heloName: string;
  /** Returns the address from which a connection to a host leaves; undefined where the system chooses it. */
  sourceAddress?: (host: string) => string | undefined;
};

type Opening = {
  claim: Sendable;
  addresses: Addresses;
  /** Time on the monotonic clock, in milliseconds, at which opening the session must have ended. */
  deadline: number;
  /** Returns true when a host that delays its answer is abandoned early (mail/smtp/client/timeouts.ts). */
  isPressed: () => boolean;
  /** Aborted once the operator ends the connection. */
  cut?: AbortSignal | undefined;
  /** Is told each address before it is tried. */
  onTry?: (host: string, address: string) => void;
};

/**
 * Tries the hosts one after another. A host's final refusal ends the search; after any other failure the next host is
 * tried, also after one that cannot meet what the message requires (RFC 8689 section 4.2.1).
 */
export async function connect(
  app: ConnectApp,
  { hosts, relay, source }: Pick<Extract<Route, { kind: 'hosts' }>, 'hosts' | 'relay' | 'source'>,
  opening: Opening,
): Promise<Connected> {
  const leaving = leaveFrom(app, source);
  const { claim, addresses, deadline, isPressed, cut, onTry } = opening;
  const startedAt = app.clock.elapsed();
  let outcome = claim.brokenOff?.outcome ?? NO_HOST_REACHED;
  let wasTried = false;
  let unmet: Outcome | undefined;
  let hasFailed = false;
  for (const { name, address, taker } of candidateHosts(app, hosts, { claim, addresses })) {
    const now = app.clock.elapsed();
    if (cut?.aborted || now >= deadline || (now - startedAt >= PRESSED_TIMEOUT_MS && isPressed())) break;
    onTry?.(name, address);
    const peer = { mx: name, address, tls: null };
    const connecting = relay
      ? connectToRelay(app, relay, { peer, opening })
      : connectToTaker(leaving, { address, taker }, opening);
    const opened = await openBefore(app, connecting, { deadline, peer });
    if (opened.ok) {
      const tls = opened.session.tls?.version ?? null;
      const opening = lastOpening(claim.conversation);
      const proven = requirementOf(taker, claim).kind;
      const session = { smtp: opened.session, peer: { ...peer, tls }, taker, proven, relay, source, opening };
      return { kind: 'open', session };
    }
    const evaluateHost = demandsProof(taker, claim) ? evaluateUnprovenFailure : evaluateFailure;
    const evaluated = (relay ? evaluateRelayFailure : evaluateHost)(app.replies, peer, opened.failure);
    if (opened.failure.kind === 'requirement') {
      unmet ??= evaluated;
      continue;
    }
    // A local failure, such as too few file descriptors, says nothing about the site and does not suspend it. Neither does a
    // requirement of one message.
    // A host that a policy refuses has not been contacted.
    wasTried ||=
      opened.failure.kind !== 'local' && !(taker.tls?.kind === 'refused' && !ignoresPolicies(claim));
    hasFailed = true;
    if (evaluated.kind !== 'deferred' || isLoginRefused(opened.failure))
      return { kind: 'closed', outcome: evaluated, wasTried };
    if (wasReached(evaluated.report) || !wasReached(outcome.report)) outcome = evaluated;
  }
  // A host that may meet the requirement later, because it did not answer now, is worth another attempt.
  if (unmet && !hasFailed) return { kind: 'closed', outcome: unmet, wasTried };
  return { kind: 'closed', outcome, wasTried };
}

function leaveFrom(app: ConnectApp, source: Source | null): LeavingApp {
  if (source === null) return { ...app, heloName: app.config.hostname };
  // A proxy has the address; the connection of this machine ends at the proxy.
  const sourceAddress = (host: string) => source.addresses.find((one) => isIPv6(one) === isIPv6(host));
  return { ...app, dial: app.sources.dialFrom(source), heloName: source.ehlo, sourceAddress };
}

/**
 * Returns true when a relay has refused the login. Its other hosts know the same accounts, and each further try could lock this one.
 */
function isLoginRefused(failure: SmtpFailure): boolean {
  return failure.kind === 'reply' && failure.phase === 'auth' && failure.reply.code >= 500;
}

/**
 * Returns true when the connection was established. The failure of such a host explains more to the sender than a
 * later host that cannot be reached.
 */
function wasReached({ phase }: { phase: Report['phase'] }): boolean {
  return phase !== 'connect' && phase !== 'local';
}

/**
 * Returns the addresses to try: those at which this delivery has not broken off. Addresses at which other mail broke off are left out
 * while there are others.
 */
function candidateHosts(
  app: ConnectApp,
  hosts: Hosts,
  { claim, addresses }: Pick<Opening, 'claim' | 'addresses'>,
) {
  const all = targets(hosts).filter(({ address }) => !hasBrokenOff(claim, address));
  const others = all.filter(({ address }) => !addresses.isAvoided(address, app.clock.elapsed()));
  return others.length > 0 ? others : all;
}

/** Returns true when a session with this address broke off in the middle of the delivery. */
export function hasBrokenOff({ brokenOff }: Pick<Claim, 'brokenOff'>, address: string): boolean {
  return brokenOff?.addresses.includes(address) ?? false;
}

/** Returns every address of the hosts with the name of its host, in order of preference. */
function targets(hosts: Hosts): { name: string; address: string; taker: Taker }[] {
  return hosts.flatMap((taker) => taker.addresses.map((address) => ({ name: taker.name, address, taker })));
}

/** Opens a session with a host that can take the mail. Another host is tried when this one cannot (RFC 6531 section 3.2). */
async function connectToTaker(
  app: LeavingApp,
  { address, taker }: { address: string; taker: Taker },
  opening: Opening,
): Promise<OpenedSmtp> {
  const { claim } = opening;
  const tls = requirementOf(taker, claim);
  const opened = await openRequired(app, { address, taker, tls }, opening);
  // Mail that asks for the opposite of a policy says nothing about the policy, and reports are such mail (RFC 8460 section 3).
  if (!requiresTls(claim) && !ignoresPolicies(claim) && !opening.cut?.aborted) {
    const [domain = ''] = claim.recipients.map(nextHopOf);
    const from = app.sourceAddress?.(address) ?? opened.localAddress;
    app.tls.observe({ domain, host: taker.name, address, from, tls, opened });
  }
  if (!opened.ok || understands(opened.session, claim)) return opened;
  void opened.session.quit();
  return { ok: false, failure: NO_SMTPUTF8 };
}

function timeoutsOf({ recipients }: Sendable): SmtpOptions['timeouts'] {
  return attemptsOf(recipients) === 1 ? DEFAULT_SMTP_TIMEOUTS : LATER_SMTP_TIMEOUTS;
}

function attemptsOf(recipients: Sendable['recipients']): number {
  return Math.max(...recipients.map(({ attempts }) => attempts));
}

/** Opens a session with a host of a relay that can take the mail. */
async function connectToRelay(
  app: ConnectApp,
  relay: Relay,
  { peer, opening }: { peer: { mx: string; address: string }; opening: Opening },
): Promise<OpenedSmtp> {
  const { claim, isPressed, cut } = opening;
  const { mx: host, address } = peer;
  const watching = { onPhase: crashOn(app), observer: recordIn(app, claim) };
  const opened = await openRelay(app, relay, {
    host,
    address,
    timeouts: timeoutsOf(claim),
    isPressed,
    cut,
    ...watching,
  });
  if (!opened.ok) return opened;
  const { session: smtp } = opened;
  const session = { smtp, taker: { name: host }, proven: 'verified', relay } as const;
  if (mayCarry(session, claim)) return opened;
  void smtp.quit();
  return { ok: false, failure: understands(smtp, claim) ? NO_REQUIRETLS : NO_SMTPUTF8 };
}

type Required = { address: string; taker: Taker; tls: HostTls };

/** Opens a session that proves what the mail and the policies of the domain require of the host. */
function openRequired(
  app: LeavingApp,
  { address, taker, tls }: Required,
  opening: Opening,
): Promise<OpenedSmtp> {
  const { claim, isPressed, cut } = opening;
  const options: Omit<SmtpOptions, 'tls'> = {
    address,
    port: app.config.outbound.smtpPort,
    serverName: taker.name,
    heloName: app.heloName,
    timeouts: timeoutsOf(claim),
    isPressed,
    cut,
    tickets: app.tls.tickets,
    onPhase: crashOn(app),
    observer: recordIn(app, claim),
  };
  if (requiresTls(claim) && tls.kind !== 'refused')
    return openRequiringTls(app, options, { claim, taker, tls });
  switch (tls.kind) {
    case 'none':
      return openSmtp(app, { ...options, tls: 'none' });
    case 'opportunistic':
      return openWithTlsFallback(app, options, opening);
    case 'required':
      return openSmtp(app, { ...options, tls: 'encrypted' });
    case 'verified':
      return openSmtp(app, { ...options, tls: 'starttls' });
    case 'dane':
      return openSmtp(app, { ...options, tls: 'dane', dane: daneIdentityFor(tls, claim) });
    case 'refused':
      return Promise.resolve({ ok: false, failure: { phase: 'connect', kind: 'tls', message: tls.reason } });
  }
}

async function openWithTlsFallback(
  app: LeavingApp,
  options: Omit<SmtpOptions, 'tls'>,
  { claim, addresses }: Opening,
): Promise<OpenedSmtp> {
  const { address } = options;
  const attempts = attemptsOf(claim.recipients);
  const age = app.clock.now() - claim.message.datedAt;
  if (addresses.needsPlainText(address, app.clock.elapsed()))
    return openSmtp(app, { ...options, tls: 'none' });
  const first = await openSmtp(app, { ...options, tls: 'opportunistic' });
  if (!isTlsFailure(first)) return first;
  const second = await openSmtp(app, { ...options, tls: 'reduced' });
  if (!isTlsFailure(second)) return moreInformative(first, second);
  if (attempts < PLAIN_TEXT_FROM_ATTEMPT && age < PLAIN_TEXT_FROM_AGE_MS) return second;
  const third = await openSmtp(app, { ...options, tls: 'none' });
  if (third.ok) addresses.rememberPlainText(address, app.clock.elapsed());
  return moreInformative(second, third);
}

/** Opens a session for mail with REQUIRETLS, for which nothing less than verified TLS will do. */
async function openRequiringTls(
  app: LeavingApp,
  options: Omit<SmtpOptions, 'tls'>,
  { claim, taker, tls }: { claim: Sendable; taker: Taker; tls: HostTls },
): Promise<OpenedSmtp> {
  if (!isAuthenticName(taker, claim)) return { ok: false, failure: NAME_UNPROVEN };
  if (tls.kind !== 'dane') return openSmtp(app, { ...options, tls: 'required' });
  const opened = await openSmtp(app, { ...options, tls: 'dane', dane: daneIdentityFor(tls, claim) });
  if (!opened.ok || opened.session.extensions.has('REQUIRETLS')) return opened;
  void opened.session.quit();
  return { ok: false, failure: NO_REQUIRETLS };
}

/**
 * Returns the outcome of the later connection, unless the host could not be connected to again: the earlier failure then
 * tells the sender more.
 */
function moreInformative(before: OpenedSmtp, now: OpenedSmtp): OpenedSmtp {
  return now.ok || wasReached(now.failure) ? now : before;
}

function isTlsFailure(opened: OpenedSmtp): boolean {
  return !opened.ok && opened.failure.kind === 'tls';
}

/**
 * Returns the session, or a timeout once the deadline has passed. A session that opens after the deadline is closed,
 * because its delivery is settled by then.
 */
async function openBefore(
  app: ConnectApp,
  opening: Promise<OpenedSmtp>,
  { deadline, peer }: { deadline: number; peer: Peer },
): Promise<OpenedSmtp> {
  try {
    const limit = { timeoutMs: deadline - app.clock.elapsed(), what: `opening ${peer.mx}` };
    return await withTimeout(app.clock, opening, limit);
  } catch (error) {
    opening.then((opened) => opened.ok && opened.session.close()).catch(() => {});
    if (!(error instanceof TimeoutError)) throw error;
    return { ok: false, failure: { phase: 'connect', kind: 'timeout', message: errorMessage(error) } };
  }
}

const CRASH_POINT_OF_PHASE: Partial<Record<SmtpPhase, CrashPointName>> = {
  connect: 'smtp-connected',
  mail: 'smtp-after-mail',
  body: 'smtp-mid-data',
  dot: 'smtp-after-dot',
};

/**
 * Returns the function that ends the process at the configured crash point. Returns undefined when no crash point is
 * configured, because reporting each phase costs time.
 */
export function crashOn(app: Pick<App, 'config' | 'crashPoint'>): ((phase: SmtpPhase) => void) | undefined {
  if (app.config.faults.crashAt === undefined) return undefined;
  return (phase) => {
    const point = CRASH_POINT_OF_PHASE[phase];
    if (point) app.crashPoint(point);
  };
}
