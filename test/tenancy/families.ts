/**
 * Two domains of one tenant, each with one of every resource that belongs to a domain, and a live key that is limited to it. What the domains
 * share is that of the tenant.
 */

import { generateKeyPairSync } from 'node:crypto';
import { EVENT_TYPES } from '../../src/events/store.ts';
import { newId } from '../../src/system/ids.ts';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
import { addDomain } from '../domains/fixtures.ts';
import { addReceived } from '../inbound/fixtures.ts';
import type { Prefix } from '../support/populated/operations.ts';
import type { Ids, Party, Populated } from '../support/populated.ts';

/** A party whose ids are those of a domain. Its live key is limited to the domain; `whole` is a live key of the tenant. */
export type Family = Party & { domain: string; whole: Party['keys']; make(prefix: Prefix): Promise<string> };

/** The preflight of a broadcast signs a copy. */
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 1024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const TEMPLATE = '<a href="{{{unsubscribe_url}}}">Unsubscribe</a>';
const DAY_MS = 24 * 3_600_000;

/** Kinds of resources that belong to a domain. */
export const BOUND = [
  'dom',
  'em',
  'brd',
  'rep',
  'rt',
  'in',
  'wh',
  'whd',
  'mbx',
  'apw',
  'mim',
  'exp',
] as const;

/** Adds a verified domain with all its resources. */
export async function addFamily(world: Populated, domain: string): Promise<Family> {
  const { owner, testApp } = world;
  const { tenantId, keys: whole } = owner;
  const { app } = testApp;
  const dom = newId('dom', app.clock.now());
  await addDomain(testApp, {
    ...{ id: dom, name: domain, status: 'verified', productType: 'both' },
    privateKeySealed: app.sealer.seal(PRIVATE_KEY, [tenantId, dom]),
  });
  const ids: Record<Prefix, string> = { ...owner.ids, dom };
  const key = await testApp.newKey({ mode: 'live', domainId: dom });
  let count = 0;
  const post = async (url: string, body: object): Promise<string> => {
    const asked = { method: 'POST' as const, url, payload: JSON.stringify(body) };
    const response = await world.ask({ keys: whole }, asked, 'live');
    if (response.statusCode >= 300) throw new Error(`${url}: ${response.body}`);
    return response.json<{ id: string }>().id;
  };
  const sendLater = () =>
    post('/v1/emails', {
      ...{ from: `ada@${domain}`, to: `bob@${domain}`, subject: 'Hello', text: 'Hi', type: 'transactional' },
      scheduledAt: new Date(Date.now() + 30 * DAY_MS).toISOString(),
    });
  const makers: Record<(typeof BOUND)[number], () => Promise<string>> = {
    dom: async () => dom,
    em: sendLater,
    brd: () =>
      post('/v1/broadcasts', {
        ...{
          audienceId: ids.aud,
          topicId: ids.top,
          from: `Ada <ada@${domain}>`,
          subject: 'News',
          html: TEMPLATE,
        },
      }),
    rep: () => world.make({ ...owner, ids }, 'rep', { mode: 'live' }),
    rt: () =>
      post('/v1/inbound/routes', {
        ...{ address: `route${++count}@${domain}`, destination: 'https://receiver.example/in' },
      }),
    in: () => addReceived(testApp, { tenantId, routeIds: [ids.rt], address: `route1@${domain}` }),
    wh: () =>
      post('/v1/webhooks', { url: 'https://receiver.example/hook', events: EVENT_TYPES, domainId: dom }),
    async whd() {
      await sendLater();
      await testApp.app.db.commit(fanOutEvents, { now: testApp.app.clock.now(), limit: 100 });
      const url = `/v1/webhooks/${ids.wh}/deliveries`;
      const answer = await world.ask({ keys: whole }, { method: 'GET', url }, 'live');
      const [newest] = answer.json<{ data: { id: string }[] }>().data;
      if (!newest) throw new Error(`the endpoint of ${domain} got no event`);
      return newest.id;
    },
    mbx: () => post('/v1/mailboxes', { address: `person${++count}@${domain}`, password: 'correct horse' }),
    apw: () => post(`/v1/mailboxes/${ids.mbx}/app-passwords`, { name: 'Phone' }),
    mim: () =>
      post(`/v1/mailboxes/${ids.mbx}/imports`, { host: 'imap.example.com', user: 'ann', password: 'secret' }),
    async exp() {
      const id = await post(`/v1/broadcasts/${ids.brd}/clicked-links/exports`, {});
      await world.runJobs(owner);
      return id;
    },
  };
  for (const prefix of BOUND) ids[prefix] = await makers[prefix]();
  const make = (prefix: Prefix) => makers[prefix as (typeof BOUND)[number]]();
  return { tenantId, domain, ids: ids as Ids, keys: { ...whole, live: key }, whole, make };
}
