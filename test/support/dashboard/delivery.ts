/** Sites and sources as the pages of the operator show them, without any mail. */
import assert from 'node:assert/strict';
import type { App } from '../../../src/app.ts';
import type { Kept } from '../../../src/queue/shaping/kept-mail.ts';
import type { Sites } from '../../../src/queue/shaping/site-calls.ts';
import type { SiteReport } from '../../../src/queue/shaping/site-report.ts';
import { configuredSources } from '../../../src/queue/sources/configured.ts';
import { fingerprintOf } from '../../../src/queue/sources/source.ts';
import { suspendAddresses } from '../../../src/queue/sources/store.ts';
import type { TestAppOptions } from '../test-app.ts';

const NOON = Date.UTC(2026, 2, 1, 12);

/** Returns a site of a provider that rests, with rules in force, and connections in each state. */
export function siteAt(site: string, tenantId: string): SiteReport {
  const until = NOON + 7_200_000;
  const connection = { tls: 'TLSv1.3', since: NOON, messages: 1_234, tenantId };
  return {
    site,
    provider: 'google',
    source: 'main',
    sessions: 2,
    idleSessions: 1,
    allowedConnections: 5,
    claimed: 3,
    queues: 4,
    limits: {
      connections: { value: 5, origin: { kind: 'provider', name: 'google' } },
      providerConnections: { value: null, origin: { kind: 'default' } },
      connectionsPerMinute: { value: 10, origin: { kind: 'setting', name: 'delivery.limits (google)' } },
      recipientsPerMinute: { value: 60, origin: { kind: 'rule', name: 'slower', until } },
      messagesPerConnection: { value: 100, origin: { kind: 'route', name: 'relay' } },
    },
    binding: { limit: 'rest', until, reason: 'too many: <b>slow down</b>' },
    learned: { connections: 3, ceilingUntil: NOON + 600_000, failures: 4 },
    restingTenants: [],
    connections: [
      { ...connection, id: 7, state: 'sending', host: 'mx1.one.example', address: '192.0.2.1' },
      { ...connection, id: 9, state: 'idle', host: 'mx2.one.example', address: '192.0.2.2', tenantId: null },
      {
        ...connection,
        ...{ id: 10, state: 'connecting', host: null, address: null, tls: null, since: null, messages: 0 },
      },
    ],
    restrictions: [
      {
        ...{ id: 'slower - - provider google', rule: 'slower', place: 'provider google', tenantId: null },
        ...{
          source: null,
          lower: { recipientsPerMinute: 60 },
          reason: '421 <i>rate</i>',
          since: NOON,
          until,
        },
      },
      {
        ...{
          id: `quiet ${tenantId} - ${site}`,
          rule: 'quiet',
          place: site,
          tenantId: tenantId,
        },
        ...{ source: null, lower: null, reason: '450 later', since: NOON, until },
      },
    ],
  };
}

/** Returns an entry of each cause, two of rules, with text of strangers. */
export function keptAt(site: string, tenantId: string): Kept[] {
  const blank = { place: site, source: null, tenantId: null, restriction: null, limits: null };
  const times = { since: NOON, until: NOON + 7_200_000 };
  const reason = '421 <i>rate</i> <img src=x onerror=alert(1)>';
  const slower = { id: 'slower - - provider google', rule: 'slower' };
  const quiet = { id: `quiet ${tenantId} - ${site}`, rule: 'quiet' };
  const provider = { ...blank, place: 'provider google', restriction: slower };
  return [
    { ...provider, ...times, cause: 'rule', limits: { recipientsPerMinute: 60 }, reason },
    { ...blank, ...times, cause: 'rule', restriction: quiet, tenantId, source: 'main', reason },
    { ...blank, ...times, cause: 'failures', since: null, reason: `5 failures in a row. Last: ${reason}` },
    { ...blank, cause: 'probe', since: null, until: null, reason: null },
    { ...blank, ...times, cause: 'rate', limits: { connectionsPerMinute: 10 }, reason: null },
    { ...blank, ...times, cause: 'learned', limits: { connections: 3 }, reason: null },
  ];
}

/** Returns the sites of a thread that knows none, but for what `part` has. */
export function sitesWith(part: Partial<Sites>): Sites {
  return {
    listKept: async () => ({ kept: [], total: 0, sites: [] }),
    explainSites: async () => [],
    disconnect: async () => [],
    liftRests: async () => [],
    forgetLearned: async () => [],
    ...part,
  };
}

/** Settings with three sources and two pools. */
export const OUTBOUND: NonNullable<TestAppOptions['outbound']> = {
  sources: [
    { name: 'one', addresses: ['45.33.32.1'], ehlo: 'one.example' },
    { name: 'two', addresses: ['45.33.32.2', '2606:2800::1'], ehlo: 'two.example' },
    { name: 'vm', addresses: ['45.33.32.3'], ehlo: 'vm.example', socks5: '10.0.0.9:1080' },
  ],
  pools: [
    { name: 'bulk', sources: ['two', 'vm'], kind: 'broadcast' },
    { name: 'partner', sources: ['one'], domain: 'partner.example' },
  ],
};

/** Suspends the source behind a proxy. */
export async function suspendProxy({
  config,
  clock,
  db,
}: Pick<App, 'config' | 'clock' | 'db'>): Promise<void> {
  const vm = configuredSources(config).find(({ name }) => name === 'vm');
  assert.ok(vm);
  const now = clock.now();
  await db.commit(suspendAddresses, {
    suspensions: [
      {
        source: 'vm',
        address: '45.33.32.3',
        fingerprint: fingerprintOf(vm),
        reason: 'the proxy <b>cannot</b> be reached',
        since: now - 3_600_000,
        until: now + 60_000,
      },
    ],
  });
}
