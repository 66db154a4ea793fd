/**
 * Asks rspamd about a message by its HTTP protocol. The bytes are streamed from where they are stored. Whatever goes wrong, the
 * message is evaluated without it: rspamd can neither delay mail for long nor stop it.
 */

import { Readable } from 'node:stream';
import type { SpamReason } from '../inbound/spam-signals.ts';
import type { AuthenticationResult, DkimOutcome } from '../mail/auth/result.ts';
import { addressSite } from '../system/address-block.ts';
import { errorMessage } from '../system/errors.ts';
import { Shares } from '../system/shares.ts';
import type { System } from '../system/system.ts';

/** A message with what rspamd cannot see in it. */
export type CheckedMessage = {
  sizeBytes: number;
  chunks(): AsyncIterable<Uint8Array>;
  client: { address: string; helo: string | undefined; tls: { version: string; cipher: string } | undefined };
  sender: string;
  recipients: readonly string[];
  /** Host name of this installation. */
  hostname: string;
  result: AuthenticationResult;
};

/** The score of a message, with the symbols that it consists of; the weightiest come first. */
export type RspamdVerdict = { score: number; reasons: SpamReason[] };

export type Rspamd = {
  /** Returns the verdict; undefined when there is none. It never rejects. */
  check(message: CheckedMessage): Promise<RspamdVerdict | undefined>;
};

/** Maximum time of a check in milliseconds, from the connection to the last byte of the answer. */
const TIMEOUT_MS = 2_000;
/** Maximum size of an answer. Common ones have a few KB. */
export const MAX_ANSWER_BYTES = 256 * 1024;
/** Maximum number of messages that are checked at the same time, each in a connection. */
const MAX_CHECKS = 32;
/** Clients of one network together use at most three quarters of these. */
const HELD_PER_FREE = 3;
/** Maximum number of stored symbols. */
const MAX_REASONS = 20;
/** Maximum score, either way. A message with a score above 15 is usually refused. */
const MAX_SCORE = 1_000;
/**
 * Minimum score of a message that rspamd rejects for something else than its score, such as a virus. A message with 15 points is usually
 * refused.
 */
const MIN_REJECTED_SCORE = 15;
/** Minimum time between two lines in the log about failures. */
const WARNING_PERIOD_MS = 60_000;
/** Matches the name of a symbol. */
const SYMBOL_NAME = /^[A-Za-z0-9_]{1,64}$/;

/** Returns the client of the rspamd at `url`, which has no path. */
export function createRspamd(
  app: Pick<System, 'clock' | 'log' | 'metrics' | 'fetch'>,
  { url, timeoutMs = TIMEOUT_MS }: { url: string; timeoutMs?: number },
): Rspamd {
  const { clock, log } = app;
  const results = app.metrics.counter('inbound_rspamd_total', 'Messages that rspamd was asked about.', [
    'result',
  ]);
  const slots = new Shares(MAX_CHECKS, { perFree: HELD_PER_FREE });
  let warnedAt = Number.NEGATIVE_INFINITY;

  async function ask(message: CheckedMessage): Promise<RspamdVerdict> {
    const body = Readable.from(message.chunks());
    // A request that ends early destroys the stream with its error, which is the error of the request too.
    body.on('error', () => {});
    const response = await app
      .fetch({
        method: 'POST',
        url: new URL('/checkv2', url).href,
        headers: { ...headersOf(message), 'content-length': String(message.sizeBytes) },
        body,
        timeoutMs,
        maxResponseBytes: MAX_ANSWER_BYTES,
        changesNothing: true,
      })
      .finally(() => body.destroy());
    if (response.status !== 200) throw new Error(`rspamd answered ${response.status}`);
    if (response.truncated) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    return readAnswer(response.body.toString());
  }

  function warn(error: unknown): void {
    if (clock.elapsed() < warnedAt + WARNING_PERIOD_MS) return;
    warnedAt = clock.elapsed();
    log.warn({ reason: errorMessage(error) }, 'rspamd gives no verdict; messages are evaluated without it');
  }

  return {
    async check(message) {
      const owner = addressSite(message.client.address);
      if (!slots.take(owner)) {
        results.inc({ result: 'busy' });
        return undefined;
      }
      try {
        const verdict = await ask(message);
        results.inc({ result: 'done' });
        return verdict;
      } catch (error) {
        results.inc({ result: 'failed' });
        warn(error);
        return undefined;
      } finally {
        slots.release(owner);
      }
    },
  };
}

/** Returns the headers that rspamd reads the envelope from, and our results, with which it need not find out its own. */
function headersOf({ client, sender, recipients, hostname, result }: CheckedMessage): Record<string, string> {
  const { address, helo, tls } = client;
  const headers = {
    IP: address,
    From: sender,
    // A list of addresses, whose local parts may be quoted and then contain commas.
    Rcpt: recipients.join(','),
    'MTA-Name': hostname,
    ...(helo !== undefined && { Helo: helo }),
    ...(result.reverseDns.result === 'pass' && { Hostname: result.reverseDns.name ?? '' }),
    ...(tls && { 'TLS-Version': tls.version, 'TLS-Cipher': tls.cipher }),
    SPF: JSON.stringify({ result: SPF_RESULTS[result.spf.result] }),
    DKIM: JSON.stringify({ results: dkimResults(result.dkim) }),
    DMARC: JSON.stringify({ result: dmarcResult(result.dmarc) }),
  };
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(value)]));
}

/** Results in the words of rspamd. */
const SPF_RESULTS = {
  pass: 'pass',
  fail: 'fail',
  softfail: 'softfail',
  neutral: 'neutral',
  none: 'na',
  temperror: 'tempfail',
  permerror: 'permfail',
} as const;

const DKIM_RESULTS = {
  pass: 'pass',
  fail: 'fail',
  policy: 'fail',
  neutral: 'permfail',
  permerror: 'permfail',
  temperror: 'tempfail',
} as const;

function dkimResults(signatures: readonly DkimOutcome[]): { result: string; domain?: string }[] {
  if (signatures.length === 0) return [{ result: 'na' }];
  return signatures.map(({ result, domain }) => ({ result: DKIM_RESULTS[result], domain }));
}

function dmarcResult({ result, policy }: AuthenticationResult['dmarc']): string {
  switch (result) {
    case 'pass':
      return 'pass';
    case 'none':
      return 'na';
    case 'temperror':
      return 'tempfail';
    case 'permerror':
      return 'permfail';
    case 'fail':
      return policy === 'reject' || policy === 'quarantine' ? policy : 'softfail';
  }
}

/** Returns the octets of UTF-8, as far as the value of a header may have them (RFC 9110 section 5.5). */
function headerText(value: string): string {
  return Buffer.from(value)
    .toString('latin1')
    .replace(/[^\t -~\x80-\xff]/g, '');
}

/**
 * Reads an answer.
 * @throws Error when it has no score
 */
function readAnswer(text: string): RspamdVerdict {
  const answer: unknown = JSON.parse(text);
  const score = numberOf(answer, 'score');
  if (score === undefined) throw new Error('the answer has no score');
  const symbols = fieldOf(answer, 'symbols');
  const reasons = Object.entries(typeof symbols === 'object' && symbols !== null ? symbols : {}).flatMap(
    ([name, symbol]) => {
      const points = numberOf(symbol, 'score');
      return points === undefined || points === 0 || !SYMBOL_NAME.test(name)
        ? []
        : [{ name: `rspamd:${name}`, points }];
    },
  );
  const missing = isRejected(answer, score) ? MIN_REJECTED_SCORE - score : 0;
  if (missing > 0) reasons.push({ name: 'rspamd:reject', points: missing });
  const weightiest = reasons.toSorted((one, other) => Math.abs(other.points) - Math.abs(one.points));
  return { score: score + Math.max(0, missing), reasons: weightiest.slice(0, MAX_REASONS) };
}

/** Returns true when rspamd rejects the message although its score is below that of a rejection, if there is one. */
function isRejected(answer: unknown, score: number): boolean {
  const required = numberOf(answer, 'required_score') ?? Number.POSITIVE_INFINITY;
  return fieldOf(answer, 'action') === 'reject' && score < required;
}

function fieldOf(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Record<string, unknown>)[name];
}

function numberOf(object: unknown, name: string): number | undefined {
  const value = fieldOf(object, name);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Math.max(-MAX_SCORE, Math.min(MAX_SCORE, value));
}
