/**
 * The optional DNS records by which mail programs find the server of a domain with mailboxes (RFC 6186, RFC 8314 section 5.1, RFC 5804
 * section 1.8), and the check of them. The domain works without any of them.
 */
import type { DomainRow } from '../db/tables.ts';
import type { DnsAnswer, DnsLookups, SrvRecord } from '../system/dns.ts';
import { evaluateTracking, type Verdict, verdicts } from './check.ts';
import { type ClientConfig, type ClientService, clientServices } from './client-services.ts';

type Cname = { record: 'AUTOCONFIG' | 'AUTODISCOVER'; type: 'CNAME'; name: string; value: string };

/** `value` is the target: a host, or `.` for a service that the domain does not offer (RFC 2782). */
type Srv = {
  record: 'SRV';
  type: 'SRV';
  name: string;
  value: string;
  priority: number;
  weight: number;
  port: number;
};

export type ClientRecord = (Cname | Srv) & { purpose: 'clients' };

/** A domain as the records need it. */
type ClientDomain = Pick<DomainRow, 'name' | 'productType'>;

/** Names of the services in SRV records, by protocol and security. */
const SERVICE_NAMES: Readonly<
  Record<ClientService['protocol'], Readonly<Record<ClientService['security'], string>>>
> = {
  imap: { tls: '_imaps', starttls: '_imap' },
  pop3: { tls: '_pop3s', starttls: '_pop3' },
  smtp: { tls: '_submissions', starttls: '_submission' },
  // ManageSieve has one port, where TLS is asked for.
  sieve: { tls: '_sieve', starttls: '_sieve' },
};
/** Services without TLS from the first byte, which a program would otherwise look for. */
const REFUSED = ['_imap', '_pop3'];
/** Port of HTTPS, where Autodiscover is (RFC 9110 section 4.2.2). */
const HTTPS_PORT = 443;

/** Returns the records; none for a domain without mailboxes. */
export function clientRecordsToPublish(
  config: ClientConfig,
  { name, productType }: ClientDomain,
): ClientRecord[] {
  if (productType === 'api') return [];
  const host = config.hostname.toLowerCase();
  const srv = (service: string, port: number, value = host): ClientRecord => ({
    record: 'SRV',
    purpose: 'clients',
    type: 'SRV',
    name: `${service}._tcp.${name}`,
    value,
    priority: 0,
    weight: value === '.' ? 0 : 1,
    port,
  });
  const cname = (record: Cname['record']): ClientRecord => ({
    record,
    purpose: 'clients',
    type: 'CNAME',
    name: `${record.toLowerCase()}.${name}`,
    value: host,
  });
  const services = clientServices(config).map(
    ({ protocol, security, port }) => [SERVICE_NAMES[protocol][security], port] as const,
  );
  const offered = new Set(services.map(([service]) => service));
  return [
    ...services.map(([service, port]) => srv(service, port)),
    ...REFUSED.filter((service) => !offered.has(service)).map((service) => srv(service, 0, '.')),
    cname('AUTOCONFIG'),
    cname('AUTODISCOVER'),
    srv('_autodiscover', HTTPS_PORT),
  ];
}

/** Checks one of the records. */
export async function checkClientRecord(
  dns: Pick<DnsLookups, 'srv' | 'cname'>,
  record: ClientRecord,
): Promise<Verdict> {
  return record.type === 'SRV'
    ? evaluateSrv(await dns.srv(record.name), record)
    : evaluateTracking(await dns.cname(record.name), record.value);
}

/**
 * Evaluates SRV records: those with the best priority, which programs use, lead to the right host and port. The target `.` stands alone
 * (RFC 2782).
 */
export function evaluateSrv(answer: DnsAnswer<SrvRecord>, wanted: Pick<Srv, 'value' | 'port'>): Verdict {
  if (answer.kind === 'failed') return verdicts.unknown(answer.reason);
  const records = answer.kind === 'found' ? answer.records : [];
  const found = records.map(
    ({ priority, weight, port, target }) => `${priority} ${weight} ${port} ${target === '' ? '.' : target}`,
  );
  if (records.length === 0) return verdicts.absent('No SRV record is published here');
  const isRight =
    wanted.value === '.'
      ? records.every(({ target }) => target === '')
      : bestOf(records).every(({ target, port }) => target === wanted.value && port === wanted.port);
  if (isRight) return verdicts.verified(found);
  return wanted.value === '.'
    ? verdicts.wrong(found, 'This service is not offered; the only record must have the target "."')
    : verdicts.wrong(
        found,
        `The records with the lowest priority must lead to ${wanted.value}, port ${wanted.port}`,
      );
}

function bestOf(records: readonly SrvRecord[]): SrvRecord[] {
  const best = Math.min(...records.map(({ priority }) => priority));
  return records.filter(({ priority }) => priority === best);
}
