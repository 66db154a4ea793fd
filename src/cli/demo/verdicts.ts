/** What a receiving mail server makes of a message: SPF, DKIM and DMARC, judged by a library that is not ours. */
import { authenticate } from 'mailauth';
import type { Dns, DnsAnswer } from '../../system/dns.ts';
import type { ReceivedMail } from './receiver.ts';

/** Each as in Authentication-Results (RFC 8601 2.7): `pass`, `fail`, `none` and so on. */
export type Verdicts = { spf: string; dkim: string; dmarc: string };

export async function judge(mail: ReceivedMail, receiver: string, dns: Dns): Promise<Verdicts> {
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

/** In the manner of node:dns, which the library expects: throws with a code when there is nothing. */
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
