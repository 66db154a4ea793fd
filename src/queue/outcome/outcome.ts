/** The outcome of an attempt as a value. `deliver` produces one for each recipient; `settle` stores it. */
import type { HoldReason, RecipientRow } from '../../db/tables.ts';
import type { SmtpFailure, SmtpPhase } from '../../mail/smtp/client/failure.ts';
import { hideSecrets, type LoginSecrets } from '../../mail/smtp/client/login.ts';
import { replyText, type SmtpReply } from '../../mail/smtp/reply.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import type { Fact, Meaning } from './replies/meaning.ts';

/** Everything known about an attempt, for its row, the API and the events. */
export type Report = {
  /** The phases `dns` and `local` come before any connection; `simulated` replaces it; `dsn` is after the delivery. */
  phase: SmtpPhase | 'dns' | 'local' | 'simulated' | 'dsn';
  mx: string | null;
  address: string | null;
  /** TLS version, for example `TLSv1.3`; null when the connection was not encrypted. */
  tls: string | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  /** The peer's reply, or our own description when there is none. */
  text: string;
  /** The reason without a reply; undefined for replies. */
  fact?: Fact;
  /** Secrets of a relay's login, which its reply may repeat. They go before the report is stored, logged or shown (`cleanReport`). */
  secrets?: LoginSecrets;
};

export type Outcome =
  | { kind: 'delivered'; report: Report }
  /**
   * `retryAfterMs` replaces the delay of the retry schedule. A message that is `endsAtAgeMs` old is not tried again, although it has not
   * expired.
   */
  | { kind: 'deferred'; report: Report; retryAfterMs?: number; endsAtAgeMs?: number }
  | { kind: 'bounced'; report: Report }
  /** Another attempt would do harm, so the mail waits for an operator (held/hold.ts). */
  | { kind: 'held'; report: Report; reason: HoldReason };

/** An outcome with its meaning, in the form in which it is stored. */
export type FinalOutcome =
  | Exclude<Outcome, { kind: 'deferred' | 'bounced' }>
  | (Extract<Outcome, { kind: 'deferred' | 'bounced' }> & { meaning: Meaning });

/**
 * The type of a bounce in events and counters. `permanent`: the address was added to the suppressions. `transient`: it passes by itself.
 */
export type BounceType = 'permanent' | 'transient' | 'undetermined';

/** Feedback that follows a simulated delivery. */
export type SimulatedFeedback = 'complained' | 'opened' | 'clicked';

/**
 * The outcome for one recipient, with the feedback that a simulation adds. `notifiesSender` is true when the server that took the message
 * tells its sender what becomes of it (RFC 3461 section 5.2.1).
 */
export type Verdict<Result = Outcome> = {
  outcome: Result;
  feedback?: SimulatedFeedback;
  notifiesSender?: boolean;
};

/** Returns the same outcome for every recipient of the delivery. */
export function verdictForAll(
  delivery: { recipients: readonly Pick<RecipientRow, 'id'>[] },
  outcome: Outcome,
): Map<RecipientRow['id'], Verdict> {
  return new Map(delivery.recipients.map(({ id }) => [id, { outcome }]));
}

export const NO_REPORT = {
  mx: null,
  address: null,
  tls: null,
  smtpCode: null,
  enhancedCode: null,
} as const satisfies Partial<Report>;

export type Peer = Pick<Report, 'mx' | 'address' | 'tls'>;

/** Returns the report of an SMTP reply. */
export function reportReply(peer: Peer, phase: SmtpPhase, reply: SmtpReply): Report {
  return {
    ...peer,
    phase,
    smtpCode: reply.code,
    enhancedCode: reply.enhanced ?? null,
    text: replyText(reply),
  };
}

/** Names of the phases of a session in a diagnostic. */
const PHASE_NAMES: Record<SmtpPhase, string> = {
  connect: 'connecting',
  banner: 'greeting',
  ehlo: 'EHLO',
  starttls: 'STARTTLS',
  auth: 'AUTH',
  mail: 'MAIL FROM',
  rcpt: 'RCPT TO',
  data: 'DATA',
  body: 'message',
  dot: 'end of message',
  quit: 'QUIT',
};

/**
 * Reports a failure without a reply, with the peer and the phase: `mx.example.net (RCPT TO): the peer closed the
 * connection`.
 */
export function reportFailure(peer: Peer, failure: SmtpFailure): Report {
  if (failure.kind === 'reply') return reportReply(peer, failure.phase, failure.reply);
  const text = `${peer.mx} (${PHASE_NAMES[failure.phase]}): ${failure.message}`;
  return {
    ...peer,
    phase: failure.phase,
    smtpCode: null,
    enhancedCode: null,
    text,
    fact: FACT_OF_FAILURE[failure.kind],
  };
}

const FACT_OF_FAILURE = {
  timeout: 'network',
  connection: 'network',
  protocol: 'protocol',
  tls: 'tls',
  local: 'local',
  requirement: 'requirement',
} as const satisfies Record<Exclude<SmtpFailure['kind'], 'reply'>, Fact>;

/** Returns a report whose text can be stored, logged and shown: another machine may have written it, and have repeated secrets. */
export function cleanReport({ secrets, ...report }: Report): Report {
  const text = secrets ? hideSecrets(report.text, secrets) : report.text;
  return { ...report, text: cleanForeignText(text) };
}
