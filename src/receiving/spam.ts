/**
 * Evaluates how much a message looks like spam, and what follows: nothing, a flag, or a refusal where the operator wants that. The
 * score of rspamd replaces that of the built-in signs, which rspamd knows as well; listings by blocklists are added to either.
 */
import { findSignals, type SpamReason } from '../inbound/spam-signals.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import type { ReceivedContent } from './content.ts';
import type { Evaluation, ReceivedEnvelope } from './envelope.ts';
import type { InboundApp } from './inbound-app.ts';
import type { RspamdVerdict } from './rspamd.ts';

/** The result that is stored with a message. */
export type SpamVerdict = {
  /** Sum of the points; null for a message that was not evaluated. */
  score: number | null;
  reasons: readonly SpamReason[];
  isFlagged: boolean;
};

type SpamDecision = { kind: 'accepted'; spam: SpamVerdict } | { kind: 'refused'; reply: Reply };

type EvaluatedMessage = { envelope: ReceivedEnvelope; content: ReceivedContent; evaluation: Evaluation };

/** Points of a listing. */
const LISTING_POINTS = 3.5;

/**
 * Decides about a message. Mail that no tenant receives is not evaluated: its addresses prove that it is an answer, or it is for
 * the postmaster, who must be reachable. Mail without a client keeps the flag that it has.
 */
export async function evaluateSpam(app: InboundApp, message: EvaluatedMessage): Promise<SpamDecision> {
  const { envelope, evaluation } = message;
  const { client, recipients } = envelope;
  const { result } = evaluation;
  if (!client || !result || recipients.every(({ tenantId }) => tenantId === null))
    return { kind: 'accepted', spam: { score: null, reasons: [], isFlagged: evaluation.isFlagged } };
  const { score, reasons } = await findScore(app, message, { client, result });
  const { flagAt, refuseAt } = app.config.inbound.spam;
  if (refuseAt > 0 && score >= refuseAt) {
    app.inboundMetrics.spamChecked('refused');
    logSpam(app, message, { client: client.address, score, reasons });
    // X.7.1 is a refusal by policy (RFC 3463 section 3.8).
    return { kind: 'refused', reply: { code: 550, status: '5.7.1', text: 'The message looks like spam' } };
  }
  const isFlagged = evaluation.isFlagged || score >= flagAt;
  app.inboundMetrics.spamChecked(isFlagged ? 'flagged' : 'clean');
  return { kind: 'accepted', spam: { score, reasons, isFlagged } };
}

type Known = {
  client: NonNullable<ReceivedEnvelope['client']>;
  result: NonNullable<Evaluation['result']>;
};

async function findScore(
  app: InboundApp,
  { envelope, content, evaluation }: EvaluatedMessage,
  { client, result }: Known,
): Promise<RspamdVerdict> {
  const { hostname } = app.config;
  const helo = app.isTrustedRelay(client.address) ? undefined : client.helo;
  const listed = envelope.listings.map(({ zone }) => ({ name: `dnsbl:${zone}`, points: LISTING_POINTS }));
  const stored = app.blobs.openPrepared(content.blob);
  const verdict = await app.rspamd?.check({
    sizeBytes: stored.sizeBytes,
    chunks: stored.chunks,
    client: { address: result.address, helo, tls: client.tls },
    sender: envelope.sender,
    recipients: envelope.recipients.map(({ address }) => address),
    hostname,
    result,
  });
  const { isFlagged: isQuarantined } = evaluation;
  const now = app.clock.now();
  const signals =
    verdict?.reasons ?? findSignals({ result, isQuarantined, helo, hostname, fields: content.fields, now });
  const score = sumOf(listed) + (verdict?.score ?? sumOf(signals));
  // A sum of decimal fractions is not exact.
  return { score: Math.round(score * 100) / 100, reasons: [...listed, ...signals] };
}

function sumOf(reasons: readonly SpamReason[]): number {
  return reasons.reduce((sum, { points }) => sum + points, 0);
}

/** Nothing is stored of a message that is refused, so the log is the only place for its reasons. */
function logSpam(
  { config, log }: InboundApp,
  { envelope: { sender: from } }: EvaluatedMessage,
  { client, score, reasons }: RspamdVerdict & { client: string },
): void {
  const shown = reasons.map(({ name, points }) => `${name} ${points}`);
  if (config.log.mail) log.info({ from, client, score, reasons: shown }, 'a message looks like spam');
}
