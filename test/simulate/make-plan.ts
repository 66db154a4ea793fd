/** Makes the plan of a seed. Most plans are small, so that thousands of them end in reasonable time. */
import { makeHosts } from './make-hosts.ts';
import { demandingDomains, demandingMail, makePolicies, PROVIDER_DOMAIN } from './make-policies.ts';
import type { DomainPlan, DomainRecords, FaultPlan, MailPlan, Plan, SitePlan, Size } from './plan.ts';
import { type Choices, choicesOf } from './random.ts';
import { VERIFIED_HOST } from './verified-host.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Number of sites, domains and messages of each size, at most. */
const SIZES: Record<Size, { sites: number; domains: number; messages: number }> = {
  small: { sites: 4, domains: 6, messages: 20 },
  crowd: { sites: 2, domains: 2, messages: 300 },
  medium: { sites: 12, domains: 40, messages: 120 },
  large: { sites: 60, domains: 600, messages: 900 },
  huge: { sites: 1_500, domains: 10_000, messages: 10_000 },
};

/** Time within which all mail is accepted. */
const ACCEPTED_WITHIN_MS = 10 * MINUTE_MS;
/** Time by which hosts that recover have recovered. Mail lives long enough to be tried after it. */
export const RECOVERED_MS = HOUR_MS;
const MAX_AGES_MS = [3 * HOUR_MS, 4 * HOUR_MS] as const;
/** Maximum age of mail that expires while its host is still in trouble. */
const SHORT_AGE_MS = 30 * MINUTE_MS;

export function makePlan(seed: number, wanted?: Size): Plan {
  const choices = choicesOf(seed, 'plan');
  const drawn = drawSize(choices);
  const size = wanted ?? drawn;
  const sites = makeSites(seed, size);
  const domains = [...makeDomains(seed, size, sites), ...demandingDomains(seed, sites)];
  const tenants = Array.from(
    { length: choices.between(1, size === 'small' ? 3 : 6) },
    (_, index) => `t${index}`,
  );
  if (size === 'crowd' && tenants.length === 1) tenants.push('t1');
  const drawnMail = size === 'crowd' ? makeCrowd(seed, domains) : makeMail(seed, { size, tenants, domains });
  const connectionsPerSite = choices.pick([1, 2, 3, 5, 20]);
  const connections = Math.max(choices.pick([4, 10, 50, 500]), size === 'crowd' ? 10 : 4);
  return {
    seed,
    size,
    limits: { connections, connectionsPerSite },
    threads: choicesOf(seed, 'threads').pick([1, 1, 2, 3]),
    tenants,
    sites,
    domains,
    mail: [...drawnMail, ...demandingMail(seed, { domains, tenants })],
    faults: makeFaults(seed, size),
    policies: makePolicies(seed, { size, sites, tenants }),
  };
}

function drawSize(choices: Choices): Size {
  const draw = choices.between(1, 10_000);
  if (draw <= 2) return 'huge';
  if (draw <= 50) return 'large';
  if (draw <= 600) return 'medium';
  return draw <= 1_400 ? 'crowd' : 'small';
}

function makeSites(seed: number, size: Size): SitePlan[] {
  const choices = choicesOf(seed, 'sites');
  const count = choices.between(1, SIZES[size].sites);
  const providers = choicesOf(seed, 'providers');
  const hasProvider = size !== 'crowd' && providers.chance(0.3);
  const sites = Array.from({ length: count }, (_, index) => {
    const isOfProvider = hasProvider && providers.chance(0.7);
    const domain = isOfProvider ? PROVIDER_DOMAIN : 'example';
    const name = `site${index}`;
    return { name, isOfProvider, hosts: makeHosts(choices, { site: name, index, size, domain }) };
  });
  if (size === 'crowd' || !choices.chance(0.4)) return sites;
  const [host] = makeHosts(choices, { site: VERIFIED_HOST, index: count, size, domain: 'example' });
  if (!host) return sites;
  const tls = choices.pick(['valid', 'valid', 'invalid', 'none', 'stripped'] as const);
  return [
    ...sites,
    { name: VERIFIED_HOST, isOfProvider: false, hosts: [{ ...host, name: VERIFIED_HOST, tls }] },
  ];
}

function makeDomains(seed: number, size: Size, sites: readonly SitePlan[]): DomainPlan[] {
  const choices = choicesOf(seed, 'domains');
  const ordinary = sites.filter(({ name }) => name !== VERIFIED_HOST);
  const count = Math.max(ordinary.length, choices.between(1, SIZES[size].domains));
  const domains = Array.from({ length: count }, (_, index): DomainPlan => {
    const site = (ordinary[index] ?? choices.pick(ordinary)).name;
    return {
      name: `d${index}.example`,
      records: drawRecords(choices, { site, sites: ordinary, isCalm: size === 'crowd' || index === 0 }),
      answerMs:
        size !== 'crowd' && choices.chance(0.1) ? choices.between(1_000, 20_000) : choices.between(1, 200),
      ttlMs: choices.pick([0, MINUTE_MS, HOUR_MS]),
    };
  });
  if (!sites.some(({ name }) => name === VERIFIED_HOST)) return domains;
  const answer = { kind: 'own-host', site: VERIFIED_HOST } as const;
  const verified = { name: VERIFIED_HOST, records: [{ fromMs: 0, answer }], answerMs: 20, ttlMs: HOUR_MS };
  return [...domains, verified];
}

function drawRecords(
  choices: Choices,
  { site, sites, isCalm }: { site: string; sites: readonly SitePlan[]; isCalm: boolean },
): DomainPlan['records'] {
  const good = { kind: 'site', site } as const;
  if (isCalm || choices.chance(0.75)) return [{ fromMs: 0, answer: good }];
  const other: DomainRecords = choices.chance(0.3)
    ? { kind: 'site', site: choices.pick(sites).name }
    : { kind: choices.pick(['no-name', 'failed', 'timeout', 'null-mx', 'ip-literal', 'no-address']) };
  const changed = { fromMs: choices.between(0, RECOVERED_MS), answer: good };
  if (choices.chance(0.3)) return [{ fromMs: 0, answer: other }];
  return choices.chance(0.5)
    ? [{ fromMs: 0, answer: other }, changed]
    : [
        { fromMs: 0, answer: good },
        { fromMs: choices.between(0, ACCEPTED_WITHIN_MS), answer: other },
        { ...changed, fromMs: RECOVERED_MS },
      ];
}

function makeMail(
  seed: number,
  { size, tenants, domains }: { size: Size; tenants: readonly string[]; domains: readonly DomainPlan[] },
): MailPlan[] {
  const choices = choicesOf(seed, 'mail');
  const ordinary = domains.filter(({ demand }) => demand === undefined);
  const count = size === 'huge' ? ordinary.length : choices.between(1, SIZES[size].messages);
  return Array.from({ length: count }, (_, index) => {
    const kind = choices.chance(0.3) ? 'broadcast' : 'transactional';
    const readers = kind === 'broadcast' || choices.chance(0.7) ? 1 : choices.between(2, 5);
    const first = (size === 'huge' ? ordinary[index] : undefined) ?? choices.pick(ordinary);
    const requireTls = first.name === VERIFIED_HOST && choices.chance(0.7);
    return {
      name: `m${index}`,
      at: choices.chance(0.5) ? choices.between(0, 2_000) : choices.between(0, ACCEPTED_WITHIN_MS),
      tenant: choices.pick(tenants),
      kind,
      recipients: Array.from({ length: requireTls ? 1 : readers }, (_, position) => {
        const { name } = position === 0 ? first : choices.pick(ordinary);
        const fate = choices.chance(0.9) ? 'exists' : choices.pick(['unknown', 'deferred-once'] as const);
        return { address: `u${index}-${position}@${name}`, domain: name, fate };
      }),
      maxAgeMs: choices.chance(0.15) ? SHORT_AGE_MS : choices.pick(MAX_AGES_MS),
      requireTls,
    };
  });
}

/** Makes many copies of one tenant for one site, and a single mail of another tenant that comes a moment later. */
function makeCrowd(seed: number, domains: readonly DomainPlan[]): MailPlan[] {
  const choices = choicesOf(seed, 'mail');
  const { name: domain } = domains[0]!;
  const kind = choices.pick(['broadcast', 'transactional'] as const);
  const fates = choicesOf(seed, 'fates of a crowd');
  const deferred = fates.pick([0, 0, 0.2]);
  const mail = (name: string, fields: Pick<MailPlan, 'at' | 'tenant' | 'kind'>): MailPlan => {
    const fate = name !== 'single' && fates.chance(deferred) ? 'deferred-once' : 'exists';
    const recipients = [{ address: `${name}@${domain}`, domain, fate } as const];
    return { name, recipients, maxAgeMs: MAX_AGES_MS[0], requireTls: false, ...fields };
  };
  const copies = choices.between(100, SIZES.crowd.messages);
  return [
    ...Array.from({ length: copies }, (_, index) => mail(`copy${index}`, { at: 0, tenant: 't0', kind })),
    mail('single', { at: choices.between(500, 5_000), tenant: 't1', kind: 'transactional' }),
  ];
}

function makeFaults(seed: number, size: Size): FaultPlan {
  const choices = choicesOf(seed, 'faults');
  const isCalm = size === 'crowd' || choices.chance(0.4);
  const several = (most: number) => (isCalm ? 0 : Math.max(0, choices.between(-most, most)));
  const ends = Array.from({ length: several(3) }, () => ({
    at: choices.chance(0.6) ? choices.between(1, 20_000) : choices.between(1, RECOVERED_MS),
    downMs: choices.chance(0.8) ? choices.between(100, 10_000) : choices.between(1, 20) * MINUTE_MS,
    how: choices.pick(['killed', 'stopped'] as const),
  })).sort((one, other) => one.at - other.at);
  const failingCommits = Array.from({ length: several(2) }, () => {
    const fromMs = choices.chance(0.6) ? choices.between(0, 10_000) : choices.between(0, RECOVERED_MS);
    const lastsMs = choices.chance(0.8) ? choices.between(100, 20_000) : choices.between(1, 5) * MINUTE_MS;
    return { fromMs, untilMs: fromMs + lastsMs, share: choices.pick([0.2, 0.7, 1]) };
  });
  const clockSteps = Array.from({ length: several(1) }, () => ({
    at: choices.between(1, RECOVERED_MS),
    byMs: choices.pick([-120, -20, -3, 3, 20, 120]) * MINUTE_MS,
  }));
  return { ends, failingCommits, clockSteps, commitMs: choices.pick([1, 5, 30]) };
}
