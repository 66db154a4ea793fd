/** Makes what the operator has set in a plan, and the domains that demand TLS. Each part draws from choices of its own. */
import type { DomainPlan, MailPlan, PolicyPlan, SitePlan, Size, SourcePlan } from './plan.ts';
import { choicesOf } from './random.ts';
import { VERIFIED_HOST } from './verified-host.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A provider of config/providers.yaml, and a domain in which the names of its hosts lie. */
export const PROVIDER = 'yahoo';
export const PROVIDER_DOMAIN = 'yahoodns.net';
const DEMANDS = ['mta-sts', 'dane', 'relay'] as const;

type Drawn = { size: Size; sites: readonly SitePlan[]; tenants: readonly string[] };

export function makePolicies(seed: number, { size, sites, tenants }: Drawn): PolicyPlan {
  const choices = choicesOf(seed, 'policies');
  const sources = drawSources(seed, size);
  const ordinary = sites.filter(({ name }) => name !== VERIFIED_HOST);
  const isSpam = size !== 'crowd' && choices.chance(0.2);
  return {
    rates: choices.chance(0.3) ? drawRates(seed, size, sites) : [],
    providerConnections: sites.some(({ isOfProvider }) => isOfProvider) ? choices.between(1, 3) : null,
    sources,
    spam: isSpam ? { tenant: choices.pick(tenants), site: choices.pick(ordinary).name } : null,
  };
}

function drawRates(seed: number, size: Size, sites: readonly SitePlan[]): PolicyPlan['rates'] {
  const choices = choicesOf(seed, 'rates');
  const chosen = sites.filter(({ name }) => name !== VERIFIED_HOST && choices.chance(0.5));
  return chosen.map(({ name }) => ({
    site: name,
    recipientsPerMinute: choices.pick(size === 'crowd' ? [20, 60, 300] : [null, 3, 10, 60]),
    connectionsPerMinute: choices.pick([null, 2, 6, 30]),
    messagesPerConnection: choices.pick([1, 5, 20]),
  }));
}

function drawSources(seed: number, size: Size): SourcePlan[] {
  const choices = choicesOf(seed, 'sources');
  if (!choices.chance(0.2)) return [];
  const count = choices.between(1, 3);
  return Array.from({ length: count }, (_, index) => ({
    name: `source${index}`,
    address: `10.255.0.${index + 1}`,
    ehlo: `source${index}.postrider.example`,
    isCold: choices.chance(size === 'crowd' ? 0.5 : 0.2),
    unplugged: Array.from({ length: Math.max(0, choices.between(-1, 2)) }, () => {
      const fromMs = choices.between(0, 20 * MINUTE_MS);
      return { fromMs, untilMs: fromMs + choices.pick([10_000, MINUTE_MS, 10 * MINUTE_MS]) };
    }),
  }));
}

/** Returns the domains that demand something of TLS: their only host is the one that the valid certificate is for. */
export function demandingDomains(seed: number, sites: readonly SitePlan[]): DomainPlan[] {
  if (!sites.some(({ name }) => name === VERIFIED_HOST)) return [];
  const choices = choicesOf(seed, 'demands');
  const answer = { kind: 'site', site: VERIFIED_HOST } as const;
  return DEMANDS.filter(() => choices.chance(0.4)).map((demand) => ({
    name: `${demand}.example`,
    records: [{ fromMs: 0, answer }],
    answerMs: 20,
    ttlMs: choices.pick([0, MINUTE_MS, HOUR_MS]),
    demand,
  }));
}

export function demandingMail(
  seed: number,
  { domains, tenants }: { domains: readonly DomainPlan[]; tenants: readonly string[] },
): MailPlan[] {
  const choices = choicesOf(seed, 'demanding mail');
  return domains
    .filter(({ demand }) => demand !== undefined)
    .flatMap(({ name: domain, demand }) =>
      Array.from({ length: choices.between(1, 3) }, (_, index): MailPlan => {
        const name = `${demand}${index}`;
        return {
          name,
          at: choices.between(0, 10 * MINUTE_MS),
          tenant: choices.pick(tenants),
          kind: 'transactional',
          recipients: [{ address: `${name}@${domain}`, domain, fate: 'exists' }],
          maxAgeMs: 3 * HOUR_MS,
          requireTls: false,
        };
      }),
    );
}
