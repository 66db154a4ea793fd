/**
 * Decides what the results of authentication mean for a message. A missing result is never a pass, and a result that may
 * still become known and then decide a refusal makes the client try again.
 */
import type { ArcOutcome, AuthenticationResult } from './result.ts';

type Verdict =
  | {
      kind: 'accept';
      /** True when the author's domain asks for the message to be treated as suspicious. */
      isFlagged: boolean;
      /** Why the message is flagged, or why a refusal was overridden; empty otherwise. */
      reason: string;
    }
  /** A reply of SMTP. `status` is an enhanced status code (RFC 3463). */
  | { kind: 'refuse' | 'defer'; code: 550 | 451; status: string; text: string };

type VerdictOptions = {
  /** True for a message with the null sender, which reports on other mail (RFC 5321 section 4.5.5). */
  isNotification: boolean;
  /** Domains whose ARC seals are believed, in lower case (RFC 8617 section 7.2). */
  trustedSealers: readonly string[];
};

/** Returns the verdict on a message. */
export function evaluateMessage(
  result: AuthenticationResult,
  { isNotification, trustedSealers }: VerdictOptions,
): Verdict {
  const { dmarc, from } = result;
  if (dmarc.result === 'temperror') return defer(result);
  // Some servers send bounces from a name without an address, which can forge nobody.
  if (isNotification && from.isNameless && from.fields <= 1)
    return { kind: 'accept', isFlagged: false, reason: '' };
  // DMARC cannot evaluate such a message, and forgers rely on that (RFC 9989 section 11.5).
  if (from.fields !== 1 || from.addresses.length !== 1) {
    const text = 'The message must have one From field with one address';
    return { kind: 'refuse', code: 550, status: '5.6.0', text };
  }
  switch (dmarc.result) {
    case 'pass':
    case 'none':
      return { kind: 'accept', isFlagged: false, reason: '' };
    case 'permerror':
      return defer(result);
    case 'fail':
      return evaluateFailure(result, trustedSealers);
  }
}

function evaluateFailure({ dmarc, arc }: AuthenticationResult, trustedSealers: readonly string[]): Verdict {
  if (dmarc.policy === 'none') return { kind: 'accept', isFlagged: false, reason: '' };
  const sealer = findTrustedSealer(arc, dmarc.domain, trustedSealers);
  if (sealer !== undefined)
    return { kind: 'accept', isFlagged: false, reason: `${sealer} has seen DMARC pass` };
  const text = `The message fails DMARC, and ${dmarc.domain} asks for it to be refused`;
  switch (dmarc.policy) {
    case 'quarantine':
      return { kind: 'accept', isFlagged: true, reason: dmarc.reason };
    case 'reject':
      return { kind: 'refuse', code: 550, status: '5.7.1', text };
    case undefined:
      return { kind: 'defer', code: 451, status: '4.7.0', text: 'The policy is not known' };
  }
}

/**
 * Returns the sealer that has seen the author pass DMARC, provided that it and all that sealed the message after it are
 * trusted.
 */
function findTrustedSealer(
  { result, sets }: ArcOutcome,
  authorDomain: string,
  trustedSealers: readonly string[],
): string | undefined {
  if (result !== 'pass') return undefined;
  for (const set of sets.toReversed()) {
    if (!trustedSealers.includes(set.sealer)) return undefined;
    if (set.dmarc === 'pass' && set.authorDomain === authorDomain) return set.sealer;
  }
  return undefined;
}

/** Errors of SPF have a status code of their own (RFC 7372 section 3.2). */
function defer({ spf }: AuthenticationResult): Verdict {
  const status = spf.result === 'temperror' ? '4.7.24' : '4.7.0';
  return { kind: 'defer', code: 451, status, text: 'The message cannot be authenticated at the moment' };
}
