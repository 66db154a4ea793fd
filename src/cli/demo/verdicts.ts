/** Checks a message as a receiving mail server does: SPF, DKIM and DMARC, with a library that is not ours. */
import { authenticate } from 'mailauth';
import type { Dns, DnsAnswer } from '../../system/dns.ts';
import type { ReceivedMail } from './receiver.ts';

/** Results in the words of Authentication-Results (RFC 8601 section 2.7): `pass`, `fail`, `none` and others. */
export type Verdicts = { spf: string; dkim: string; dmarc: string };

/** Returns the verdicts on a message that `receiver` received from 127.0.0.1. */
export async function readVerdicts(mail: ReceivedMail, receiver: string, dns: Dns): Promise<Verdicts> {
  const { spf, dkim, dmarc } = await authenticate(mail.raw, {
    ip: '127.0.0.1',
    helo: mail.heloName,
    sender: mail.mailFrom,
    mta: receiver,
    resolver: (name, type) => resolve(dns, name, type),
    disableArc: true,
    disableBimi: true,
  });
  return {
    spf: spf ? spf.status.result : 'none',
    dkim: dkim.results.map(({ status }) => status.result).join(' ') || 'none',
    dmarc: dmarc ? dmarc.status.result : 'none',
  };
}

/**
 * Looks up a name in the way of node:dns, which the library expects: it throws an error with a code when there is no
 * record.
 */
async function resolve(dns: Dns, name: string, type: string): Promise<string[] | string[][]> {
  switch (type) {
    case 'TXT':
      return found(await dns.txt(name)).map((text) => [text]);
    case 'A':
      return found(await dns.a(name));
    default:
      return found<string>({ kind: 'no-data', ttlMs: 0 });
  }
}

const CODES = { 'no-data': 'ENODATA', 'no-name': 'ENOTFOUND', failed: 'ESERVFAIL' } as const;

function found<Value>(answer: DnsAnswer<Value>): Value[] {
  if (answer.kind === 'found') return answer.records;
  throw Object.assign(new Error(answer.kind), { code: CODES[answer.kind] });
}
