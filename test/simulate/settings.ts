/** The settings of the daemon in a simulation, and the back-off rules in use: what the operator of its plan has written. */
import { type Config, loadConfig } from '../../src/config/config.ts';
import { parseRules } from '../../src/queue/shaping/parse.ts';
import { RuleTable } from '../../src/queue/shaping/rule-table.ts';
import { PROVIDER, PROVIDER_DOMAIN } from './make-policies.ts';
import type { Plan } from './plan.ts';
import { VERIFIED_HOST } from './verified-host.ts';

const CONFIG = loadConfig({
  env: {
    POSTRIDER_HOSTNAME: 'mx.postrider.example',
    POSTRIDER_LOG_LEVEL: 'silent',
    POSTRIDER_DATA_DIR: '/nonexistent',
    POSTRIDER_DELIVERY_SECOND_SIGNATURE: 'false',
  },
});

/** A tenant rests after so many refusals as spam within an hour, for this time. */
export const SPAM_MATCHES = 3;
export const SPAM_REST_MS = 10 * 60_000;

/** Returns rules by which a tenant rests after refusals as spam. */
export function rulesOf(spamRestMs: number): RuleTable {
  const seconds = Math.round(spamRestMs / 1_000);
  return new RuleTable(
    parseRules(
      `rules: [{ id: spam, text: rejected as spam, matches: ${SPAM_MATCHES}, within: 1h, on: tenant, rest: true, for: ${seconds}s, source: the simulation }]`,
    ),
  );
}

/** Returns the settings of a plan. */
export function settingsOf({
  limits,
  policies,
  domains,
  sites,
}: Pick<Plan, 'limits' | 'policies' | 'domains' | 'sites'>): Config {
  const { rates, providerConnections, sources } = policies;
  const ofProvider = new Set(sites.filter(({ isOfProvider }) => isOfProvider).map(({ name }) => name));
  return {
    ...CONFIG,
    delivery: {
      ...CONFIG.delivery,
      ...limits,
      limits: [
        ...rates.map(({ site, recipientsPerMinute, connectionsPerMinute, messagesPerConnection }) => ({
          host: `${site}.${ofProvider.has(site) ? PROVIDER_DOMAIN : 'example'}`,
          connections: limits.connectionsPerSite,
          messagesPerConnection,
          ...(recipientsPerMinute !== null && { recipientsPerMinute }),
          ...(connectionsPerMinute !== null && { connectionsPerMinute }),
        })),
        ...(providerConnections === null ? [] : [{ provider: PROVIDER, providerConnections }]),
      ],
    },
    outbound: {
      ...CONFIG.outbound,
      routes: domains
        .filter(({ demand }) => demand === 'relay')
        .map(({ name: domain }) => ({ name: 'relay', domain, hosts: [VERIFIED_HOST], private: true })),
      sources: sources.map(({ name, address, ehlo }) => ({ name, addresses: [address], ehlo })),
    },
  };
}
