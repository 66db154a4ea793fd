/** The proof of a contact's consent. It is stored with the contact and has no retention. This file has no SQL. */
import { isIP } from 'node:net';
import type { ContactRow } from '../../db/marketing-tables.ts';
import { invalid } from '../../system/errors.ts';

/** Maximum length of an IP address: IPv6 with an embedded IPv4 address (RFC 4291 section 2.2). */
export const MAX_IP_CHARACTERS = 45;

/** The request for a subscription. `ip` is the address of the person who made it, if the caller knows it. */
export type ConsentRequest = { source: 'api' | 'import'; ip: string | null };

/** The proof of consent, as a contact stores it. Times are Unix milliseconds. */
export type Consent = {
  requestedAt: number;
  source: ConsentRequest['source'];
  requestedIp: string | null;
  confirmedAt: number | null;
  confirmedIp: string | null;
  confirmedUserAgent: string | null;
  /** Address that was confirmed, which stays when the address of the contact is changed. */
  confirmedEmail: string | null;
};

type Given = { status?: string; unsubscribed?: boolean; consent?: { requestedIp?: string } };

/**
 * Returns the request of a new contact that is to be pending, or undefined for any other.
 * @throws AppError validation_error
 */
export function readConsentRequest(
  { status, unsubscribed, consent }: Given,
  source: ConsentRequest['source'],
): ConsentRequest | undefined {
  const ip = consent?.requestedIp;
  if (status !== 'pending') {
    if (consent === undefined) return undefined;
    throw invalid('consent', '`consent` needs the `status` pending');
  }
  if (unsubscribed === true)
    throw invalid('unsubscribed', '`unsubscribed` must not be true for a contact that is pending');
  if (ip !== undefined && isIP(ip) === 0)
    throw invalid('consent.requestedIp', '`consent.requestedIp` must be an IPv4 or IPv6 address');
  return { source, ip: ip ?? null };
}

/** Returns the proof of a request that is not confirmed yet, as JSON. */
export function requestedConsent(request: ConsentRequest, now: number): string {
  const consent: Consent = {
    requestedAt: now,
    source: request.source,
    requestedIp: request.ip,
    confirmedAt: null,
    confirmedIp: null,
    confirmedUserAgent: null,
    confirmedEmail: null,
  };
  return JSON.stringify(consent);
}

/** Parses the consent of a row. */
export function readConsent({ consent }: Pick<ContactRow, 'consent'>): Consent | undefined {
  return consent === null ? undefined : (JSON.parse(consent) as Consent);
}

/** Returns true when the contact waits for the confirmation of its reader. A reader who left waits no longer. */
export function isPending({ pending, unsubscribed }: Pick<ContactRow, 'pending' | 'unsubscribed'>): boolean {
  return pending === 1 && unsubscribed === 0;
}
