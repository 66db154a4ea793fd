/** Tests of the host names under which HTTP is served: which there are, whose they are, and what each serves. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endDomain } from '../../src/domains/store.ts';
import { installationHosts } from '../../src/host-names/purposes.ts';
import { findServedName, listServedNames } from '../../src/host-names/served-names.ts';
import { addDomain, HOSTNAME } from '../domains/fixtures.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
after(() => world.close());
const { app, tenantId } = world;
const asked = { config: app.config, now: 1 };
const find = (name: string) => findServedName(app.db.read, name, asked);

const http = { ...app.config.http, publicUrl: 'https://API.mx.example.com:8443' };

test('a host of the installation serves the API, the public pages, or both when they share it', () => {
  const hostsOf = (links: string) =>
    Object.fromEntries(
      installationHosts({ hostname: 'Mx.Example.com', http, links: { ...app.config.links, url: links } }),
    );
  assert.deepEqual(hostsOf(''), {
    'mx.example.com': ['api'],
    'api.mx.example.com': ['api'],
    'track.mx.example.com': ['pages'],
  });
  assert.deepEqual(hostsOf('https://mx.example.com'), {
    'mx.example.com': ['api', 'pages'],
    'api.mx.example.com': ['api'],
    'track.mx.example.com': ['pages'],
  });
});

test('names of domains are those of verified ones, belong to whoever receives their mail, and end with the domain', async () => {
  const other = await world.addTenant('second');
  const fields = { name: 'a.example', status: 'verified', productType: 'both' } as const;
  const domain = await addDomain(world, { ...fields, id: 'dom_1', verifiedSince: 0 });
  await addDomain({ ...world, tenantId: other.tenantId }, { ...fields, id: 'dom_2', verifiedSince: 1 });
  await addDomain(world, { ...fields, id: 'dom_3', name: 'api.example', productType: 'api' });
  await addDomain(world, { id: 'dom_4', name: 'pending.example' });

  const names = await listServedNames.run(app.db.read, asked);
  assert.deepEqual(
    names.map(({ name, tenantId: owner, serves }) => [name, owner, ...serves]),
    [
      [HOSTNAME, null, 'api'],
      [`track.${HOSTNAME}`, null, 'pages'],
      ['mta-sts.a.example', tenantId, 'mta_sts'],
      ['autoconfig.a.example', tenantId, 'discovery'],
      ['autodiscover.a.example', tenantId, 'discovery'],
      ['mta-sts.api.example', tenantId, 'mta_sts'],
    ],
  );
  for (const served of names) assert.deepEqual(await find(served.name), served);
  for (const name of [
    'a.example',
    'mta-sts.pending.example',
    'autoconfig.api.example',
    'mta-sts.unknown.example',
    'mta-sts',
    '',
    '__proto__.a.example',
    'x.mta-sts.a.example',
  ])
    assert.equal(await find(name), undefined, name);

  await app.db.commit(endDomain, { id: domain.id, tenantId, now: 1 });
  assert.equal((await find('mta-sts.a.example'))?.tenantId, other.tenantId);
});
