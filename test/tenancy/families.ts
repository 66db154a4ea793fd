/**
 * Two domains of one tenant, each with one of every resource that belongs to a domain, and a live key that is limited to it. What the domains
 * share is that of the tenant.
 */

import { generateKeyPairSync } from 'node:crypto';
import { EVENT_TYPES } from '../../src/events/store.ts';
import { newId } from '../../src/system/ids.ts';
import { addDomain } from '../domains/fixtures.ts';
import { addReceived } from '../inbound/fixtures.ts';
import type { Party, Populated } from '../support/resources/populated.ts';
import type { Ids, Prefix } from '../support/resources/resource.ts';

/** A party whose ids are those of a domain. Its live key is limited to the domain; `whole` is a live key of the tenant. */
export type Family = Party & { domain: string; whole: Party['keys']; make(prefix: Prefix): Promise<string> };

/** The preflight of a broadcast signs a copy. */
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 1024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const HOOK = 'https://receiver.example/in';

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
  'apr',
] as const;

/** Adds a verified domain with all its resources. */
export async function addFamily(world: Populated, domain: string): Promise<Family> {
  const { owner, testApp } = world;
  const { tenantId, testKeyId, keys: whole } = owner;
  const { app } = testApp;
  const dom = newId('dom', app.clock.now());
  await addDomain(testApp, {
    ...{ id: dom, name: domain, status: 'verified', productType: 'both' },
    privateKeySealed: app.sealer.seal(PRIVATE_KEY, [tenantId, dom]),
  });
  const ids: Record<Prefix, string> = { ...owner.ids, dom };
  const key = await testApp.newKey({ mode: 'live', domainId: dom });
  const party = { tenantId, testKeyId, keys: whole, ids: ids as Ids, domain };
  const post = (url: string, body: object) => world.wanted(party, { mode: 'live' }).post(url, body);
  /** Resources that this domain needs in another form than the rows of all resources have. */
  const own: Partial<Record<Prefix, () => Promise<string>>> = {
    dom: async () => dom,
    in: () => addReceived(testApp, { tenantId, routeIds: [ids.rt], address: `route@${domain}` }),
    wh: async () => (await post('/v1/webhooks', { url: HOOK, events: EVENT_TYPES, domainId: dom })).id,
    async exp() {
      const { id } = await post(`/v1/broadcasts/${ids.brd}/clicked-links/exports`, {});
      await world.runJobs(owner);
      return id;
    },
  };
  const make = (prefix: Prefix) => own[prefix]?.() ?? world.make(party, prefix, { mode: 'live' });
  for (const prefix of BOUND) ids[prefix] = await make(prefix);
  return { ...party, keys: { ...whole, live: key }, whole, make };
}
