/**
 * The mail log writes one line for each step in the life of an email, in the manner of other mail servers. A line is
 * written after its change is on disk, never before. Lines name addresses, and no secret, subject or body. `log.mail:
 * false` turns them off, except for held mail, which waits for an operator.
 */

import type { App } from '../app.ts';
import type { Mode } from '../db/tables.ts';
import type { Reply, SmtpClient } from '../mail/smtp/server/session.ts';

/** Identifies the email that a line is about. */
type OfEmail = { emailId: string; tenantId: string; mode: Mode };

type Accepted = OfEmail & {
  from: string;
  /** Number of addresses that the email goes to. */
  recipients: number;
  /** Size of the texts and of the encoded files. */
  sizeBytes: number;
  /** ISO 8601; null when the email is to be sent at once. */
  scheduledAt: string | null;
};

/** Logs that an email was accepted. */
export function logAccepted(app: App, line: Accepted): void {
  if (app.config.log.mail) app.log.info(line, 'mail accepted');
}

type Attempted = OfEmail & {
  to: string;
  attempt: number;
  /**
   * `site` names the mail servers the email goes to (queue/site/site.ts); the other fields describe the server of this
   * attempt.
   */
  site: string;
  host: string | null;
  address: string | null;
  tls: string | null;
  code: number | null;
  enhancedCode: string | null;
  diagnostic: string;
  durationMs: number;
};

const MESSAGES = {
  delivered: 'mail delivered',
  bounced: 'mail bounced',
  deferred: 'mail deferred',
} as const;

/** Logs one attempt. `nextAttemptAt` is set for deferred mail, in ISO 8601. */
export function logAttempt(
  app: Pick<App, 'config' | 'log'>,
  outcome: keyof typeof MESSAGES,
  line: Attempted & { nextAttemptAt?: string },
): void {
  if (app.config.log.mail) app.log.info(line, MESSAGES[outcome]);
}

/** A bounce, a delay or a complaint that arrived by mail after a delivery. */
type Feedback = OfEmail & { to: string } & (
    | { kind: 'bounced'; code: number | null; enhancedCode: string | null; diagnostic: string | null }
    | { kind: 'delayed'; diagnostic: string }
    | { kind: 'complained'; feedbackType: string }
  );

const FEEDBACK_MESSAGES = {
  bounced: 'mail bounced after its delivery',
  delayed: 'mail delayed after its delivery',
  complained: 'a reader complained',
} as const;

/** Logs a bounce, a delay or a complaint that arrived by mail. */
export function logFeedback(app: App, { kind, ...line }: Feedback): void {
  if (app.config.log.mail) app.log.info(line, FEEDBACK_MESSAGES[kind]);
}

type Held = OfEmail & { to: string; attempt: number; reason: string; diagnostic: string };

/** Logs held mail regardless of `log.mail`, because somebody has to act on it. */
export function logHeld(app: Pick<App, 'log'>, line: Held): void {
  app.log.warn(line, 'mail held');
}

type DomainState = { domainId: string; tenantId: string; name: string; status: string };

/**
 * Logs a change of a domain. `lapsed`: the records of a verified domain are missing, or no more mail is accepted for
 * it.
 */
export function logDomain(app: App, event: 'verified' | 'lapsed', line: DomainState): void {
  if (app.config.log.mail) app.log.info(line, event === 'verified' ? 'domain verified' : 'domain lapsed');
}

/** The client of a line about mail that arrives. */
type Client = {
  from: string;
  to: readonly string[];
  /** IP address of the client; `local` for mail of this installation itself. */
  client: string;
  helo: string | null;
  tls: string | null;
};

type Received = Client & {
  receivedId: string;
  /** Tenant of the recipients; null for mail of the installation itself. */
  tenantId: string | null;
  sizeBytes: number;
  /** True when the message is marked as probable spam. */
  flagged: boolean;
};

/** Logs that a message was received. */
export function logReceived(app: App, line: Received): void {
  if (app.config.log.mail) app.log.info(line, 'mail received');
}

type Refused = {
  from: string;
  to: readonly string[];
  reply: Reply;
  /** Names the user of the connection. */
  user?: Readonly<Record<string, string>> | undefined;
};

/** Logs that a message, or a recipient of one, was refused. */
export function logRefused(app: App, client: SmtpClient, { from, to, reply, user }: Refused): void {
  if (!app.config.log.mail) return;
  const { code, status: enhancedCode = '', text } = reply;
  const { address, helo = null, tls } = client;
  const line: Client = { from, to, client: address, helo, tls: tls?.version ?? null };
  const diagnostic = [text].flat().join(' ');
  app.log.info({ ...user, ...line, code, enhancedCode, diagnostic }, 'mail refused');
}
