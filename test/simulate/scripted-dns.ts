/** The DNS of a simulation. Each domain has the records of its plan at the time of the question, and answers as late as the plan says. */
import type { Dns, DnsAnswer, DnsLookups, MxRecord } from '../../src/system/dns.ts';
import type { Observe } from './observation.ts';
import type { DomainPlan, DomainRecords, Plan } from './plan.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Time after which the resolver gives a question up (system/dns/ask.ts). */
const TIMEOUT_MS = 10_000;
const NO_DATA = { kind: 'no-data', ttlMs: 60_000 } as const;
const HOST_TTL_MS = 300_000;
const STS_LABEL = '_mta-sts.';
/** Name by which the resolver shows that it validates (dns.signedName). */
const SIGNED_NAME = 'org';

type DnsWorld = {
  time: VirtualTime;
  observe: Observe;
  /** Data of the TLSA record of hosts whose domains demand DANE. Undefined when neither it nor any policy of MTA-STS is found. */
  daneRecord: string | undefined;
};

/** Proves an answer, as DNSSEC does. */
const SECURE = { isSecure: true } as const;

export function scriptedDns(
  { sites, domains }: Pick<Plan, 'sites' | 'domains'>,
  { time, observe, daneRecord }: DnsWorld,
): Dns {
  const domainsByName = new Map(domains.map((domain) => [domain.name, domain]));
  const hostsByName = new Map(sites.flatMap(({ hosts }) => hosts.map((host) => [host.name, host])));
  const sitesByName = new Map(sites.map((site) => [site.name, site]));

  const later = <Value>(delayMs: number, answer: () => Value): Promise<Value> =>
    new Promise((resolve) => void time.after(delayMs, () => resolve(answer())));

  function mxOf(domain: DomainPlan): DnsAnswer<MxRecord> {
    const { ttlMs } = domain;
    const found = (records: MxRecord[]) => ({ kind: 'found', records, ttlMs }) as const;
    const answer = recordsAt(domain, time.now);
    switch (answer.kind) {
      case 'site': {
        const { hosts } = sitesByName.get(answer.site)!;
        return found(hosts.map(({ name, preference }) => ({ exchange: name, preference })));
      }
      case 'own-host':
        return NO_DATA;
      case 'no-name':
        return { kind: 'no-name' };
      case 'null-mx':
        return found([{ exchange: '', preference: 0 }]);
      case 'ip-literal':
        return found([{ exchange: '10.0.0.1', preference: 10 }]);
      case 'no-address':
        return found([{ exchange: `nowhere.${domain.name}`, preference: 10 }]);
      case 'failed':
        return { kind: 'failed', reason: 'ESERVFAIL' };
      case 'timeout':
        return { kind: 'failed', reason: 'ETIMEOUT' };
    }
  }

  const lookups: DnsLookups = {
    mx(name) {
      const domain = domainsByName.get(name);
      if (!domain) return later(1, () => ({ kind: 'no-name' as const }));
      const isLost = recordsAt(domain, time.now).kind === 'timeout';
      return later(isLost ? TIMEOUT_MS : domain.answerMs, () => {
        const answer = domain.demand === 'dane' ? { ...mxOf(domain), ...SECURE } : mxOf(domain);
        observe({ kind: 'answered', name, answer: answer.kind });
        return answer;
      });
    },
    a(name) {
      const host = hostsByName.get(name);
      if (!host) return later(1, () => NO_DATA);
      return later(
        host.latencyMs,
        () => ({ kind: 'found', records: [host.address], ttlMs: HOST_TTL_MS, ...SECURE }) as const,
      );
    },
    aaaa: () => later(1, () => ({ ...NO_DATA, ...SECURE })),
    txt: (name) =>
      later(1, () => {
        if (!name.startsWith(STS_LABEL)) return name === SIGNED_NAME ? { ...NO_DATA, ...SECURE } : NO_DATA;
        const domain = domainsByName.get(name.slice(STS_LABEL.length));
        if (domain?.demand !== 'mta-sts' || daneRecord === undefined) return NO_DATA;
        return { kind: 'found', records: ['v=STSv1; id=1'], ttlMs: HOST_TTL_MS } as const;
      }),
    cname: () => later(1, () => NO_DATA),
    ptr: () => later(1, () => NO_DATA),
    srv: () => later(1, () => NO_DATA),
    tlsa: () =>
      later(1, () => {
        if (daneRecord === undefined) return { ...NO_DATA, ...SECURE };
        return { kind: 'found', records: [daneRecord], ttlMs: HOST_TTL_MS, ...SECURE } as const;
      }),
    caa: () => later(1, () => NO_DATA),
  };
  return { ...lookups, fresh: lookups };
}

/** Returns the records of the domain at this time. */
export function recordsAt({ records }: Pick<DomainPlan, 'records'>, now: number): DomainRecords {
  return records.findLast(({ fromMs }) => fromMs <= now)!.answer;
}
