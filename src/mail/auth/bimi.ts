/**
 * BIMI (draft-brand-indicators-for-message-identification) by mailauth: where the author's domain publishes its logo.
 * Only a message that passes DMARC under an enforcing policy needs a lookup. Neither the logo nor its certificate is
 * fetched.
 */
import type { DMARCResult, DNSResolver } from 'mailauth';
import { bimi } from 'mailauth/lib/bimi/index.js';
import type { HeaderField } from '../dkim/verify/header-fields.ts';
import type { BimiOutcome } from './result.ts';

const READ_FIELDS: readonly string[] = ['from', 'bimi-selector'];

/** Looks up the logo of the author's domain. It never rejects. */
export async function checkBimi(
  resolver: DNSResolver,
  fields: readonly HeaderField[],
  dmarc: DMARCResult | undefined,
): Promise<BimiOutcome> {
  if (dmarc?.status.result !== 'pass') return outcome('skipped');
  const rows = fields
    .filter(({ name }) => READ_FIELDS.includes(name))
    .map(({ name, text }) => ({ key: name, casedKey: name, line: Buffer.from(text, 'latin1') }));
  try {
    const found = await bimi({ dmarc, headers: { parsed: rows }, resolver, strict: true });
    const { status, location, authority } = found || { status: { result: 'skipped' } };
    switch (status.result) {
      case 'pass':
        return { result: 'pass', location, authority };
      case 'none':
      case 'fail':
      case 'temperror':
        return outcome(status.result);
      default:
        return outcome('skipped');
    }
  } catch {
    return outcome('temperror');
  }
}

function outcome(result: BimiOutcome['result']): BimiOutcome {
  return { result, location: undefined, authority: undefined };
}
