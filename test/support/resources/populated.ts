/**
 * Opens the application with two tenants that each have one of every resource, and turns the examples of the OpenAPI
 * document into requests of one of them. Tests that try every operation use it.
 */
import assert from 'node:assert/strict';
import type { LightMyRequestResponse } from 'fastify';
import type { RequestLogRow } from '../../../src/db/api-tables.ts';
import type { Mode } from '../../../src/db/tables.ts';
import { appendRequests, packRequests } from '../../../src/request-log/store.ts';
import { type Id, newId } from '../../../src/system/ids.ts';
import type { System } from '../../../src/system/system.ts';
import { fanOutEvents } from '../../../src/webhooks/fan-out.ts';
import { insertRow } from '../../broadcasts/fixtures.ts';
import { type Published, zoneOf } from '../../domains/fixtures.ts';
import { exportHandlers, importHandlerOf, lease, runExport, runImport } from '../../imports/jobs.ts';
import { addReceived } from '../../inbound/fixtures.ts';
import { openTestApp, type TestApp, type TestMethod } from '../test-app.ts';
import { zoneDns } from '../zone-dns.ts';
import { type ApiOperation, operationsOf } from './operations.ts';
import { DOMAIN, type Ids, type Made, type Prefix, SANDBOX, type Wanted } from './resource.ts';
import { fillPath, PREFIXES, rowOf } from './resources.ts';

export type Party = {
  tenantId: Id<'ten'>;
  keys: Readonly<Record<Mode, string>>;
  /** Id of one resource of each kind, which was created with the test key. */
  ids: Ids;
  /** Id of its test key. */
  testKeyId: string;
  /** Domain of its senders and addresses, where it is not that of all tenants of these tests. */
  domain?: string;
};

type MakeOptions = { ids?: Partial<Ids>; mode?: Mode };

export type Asked = {
  method: TestMethod;
  url: string;
  /** Body of the media type `type`, which is JSON by default. */
  payload?: string | Buffer;
  type?: string;
};

export type Populated = {
  testApp: TestApp;
  operations: readonly ApiOperation[];
  owner: Party;
  stranger: Party;
  /**
   * Sends a request with one of the tenant's keys, by default its test key, and checks the response against the
   * document.
   */
  ask(party: Pick<Party, 'keys'>, asked: Asked, mode?: Mode): Promise<LightMyRequestResponse>;
  /**
   * Creates another resource of the kind and returns its id. `ids` replaces ids of the resources that it belongs to.
   */
  make(party: Party, prefix: Prefix, options?: MakeOptions): Promise<string>;
  /** Returns what a row of resources.ts builds the body of another resource from. */
  wanted(party: Party, options?: MakeOptions): Wanted;
  /** Adds a tenant with one resource of each of these kinds. */
  addParty(name: string, prefixes: readonly Prefix[]): Promise<Party>;
  /** Runs the queued imports and exports of the tenant to their end. */
  runJobs(party: Pick<Party, 'tenantId'>): Promise<void>;
  close(): Promise<void>;
};

/**
 * Opens the application and creates the resources of both tenants. `system` replaces parts of its system, and `env` settings.
 */
export async function openPopulated(
  system: Partial<System> = {},
  env: Record<string, string> = {},
): Promise<Populated> {
  const fetch = async () => ({ status: 204, headers: {}, body: Buffer.alloc(0), truncated: false });
  const dns = zoneDns('');
  const testApp = await openTestApp({ system: { fetch, dns, ...system }, env });
  const ask: Populated['ask'] = ({ keys }, asked, mode = 'test') =>
    testApp.inject(injected(asked, keys[mode]));
  const runJobs: Populated['runJobs'] = ({ tenantId }) => runWaiting(testApp, tenantId);
  let count = 0;
  const wanted: Populated['wanted'] = (party, { ids = {}, mode = 'test' } = {}) => {
    count += 1;
    const post = async (asked: Asked) => {
      const response = await ask(party, asked, mode);
      assert.ok(response.statusCode < 300, `${asked.url}: ${response.body}`);
      return response.json<Made>();
    };
    return {
      ids: { ...party.ids, ...ids },
      domain: party.domain ?? DOMAIN,
      addressDomain: party.domain ?? SANDBOX,
      count,
      nowMs: testApp.app.clock.now(),
      make: async (prefix) => ({ id: await make(party, prefix, { ids, mode }) }),
      post: (url, body) => post({ method: 'POST', url, payload: JSON.stringify(body) }),
      postCsv: (url, payload) => post({ method: 'POST', url, payload, type: 'text/csv' }),
      async newestDelivery(endpointId) {
        await testApp.app.db.commit(fanOutEvents, { now: testApp.app.clock.now(), limit: 100 });
        const url = `/v1/webhooks/${endpointId}/deliveries`;
        const [newest] = (await ask(party, { method: 'GET', url }, mode)).json<{ data: Made[] }>().data;
        assert.ok(newest, 'no delivery was created');
        return newest;
      },
      async newestVersion(templateId) {
        const url = `/v1/templates/${templateId}`;
        const payload = JSON.stringify({ subject: `Hello ${count}` });
        const changed = await ask(party, { method: 'PATCH', url, payload }, mode);
        assert.equal(changed.statusCode, 200, changed.body);
        const listed = await ask(party, { method: 'GET', url: `${url}/versions?limit=1` }, mode);
        const [newest] = listed.json<{ data: Made[] }>().data;
        assert.ok(newest, 'no version was made');
        return newest;
      },
      receive: async (routeIds) => ({
        id: await addReceived(testApp, {
          tenantId: party.tenantId,
          routeIds,
          row: { messageId: 'made.by@client.example' },
        }),
      }),
      async askForApproval() {
        const limits = { permission: 'sending_access', requiresApproval: 'broadcasts_and_emails' };
        const body = JSON.stringify({ name: `intern ${count}`, ...limits });
        const made = await post({ method: 'POST', url: '/v1/api-keys', payload: body });
        const { token } = made as Made & { token: string };
        const email = {
          ...{ from: `ada@${party.domain ?? DOMAIN}`, to: ['delivered@simulator.mx.postrider.example'] },
          ...{ subject: 'Hello', text: 'Hello', type: 'transactional' },
        };
        const sending = { method: 'POST', url: '/v1/emails', payload: JSON.stringify(email) } as const;
        const sent = await testApp.inject(injected(sending, token));
        assert.equal(sent.statusCode, 200, sent.body);
        const url = '/v1/approvals?state=pending';
        const [newest] = (await ask(party, { method: 'GET', url }, mode)).json<{ data: Made[] }>().data;
        assert.ok(newest, 'no approval was asked for');
        return newest;
      },
      report: async (domainId) => ({ id: addReport(testApp, { tenantId: party.tenantId, domainId }) }),
      requested: async (keyId) => ({
        id: await addRequest(testApp, { tenantId: party.tenantId, mode, keyId: keyId as Id<'key'> }),
      }),
      runJobs: () => runJobs(party),
    };
  };
  const make: Populated['make'] = async (party, prefix, options) => {
    const request = wanted(party, options);
    const { path, body, make: special } = rowOf(prefix);
    if (special) return (await special(request)).id;
    return (await request.post(fillPath(path ?? '', request.ids), body?.(request) ?? {})).id;
  };
  /** Returns the id of a party's test key, before it has another one. */
  const keyIdOf = async (party: Pick<Party, 'keys'>): Promise<string> => {
    const listed = await ask(party, { method: 'GET', url: '/v1/api-keys' });
    const [key] = listed.json<{ data: Made[] }>().data;
    assert.ok(key, 'the tenant has no key');
    return key.id;
  };
  const addParty: Populated['addParty'] = async (name, prefixes) => {
    const { tenantId, testKey, liveKey } = await testApp.addTenant(name);
    const ids: Partial<Record<Prefix, string>> = {};
    const keys = { test: testKey, live: liveKey };
    const party = { tenantId, keys, ids: ids as Ids, testKeyId: await keyIdOf({ keys }) };
    for (const prefix of prefixes) ids[prefix] = await make(party, prefix);
    return party;
  };
  const settle = async (member: Omit<Party, 'ids'>): Promise<Party> => {
    const ids: Partial<Record<Prefix, string>> = {};
    const party = { ...member, ids: ids as Ids };
    ids.dom = await addVerifiedDomain(party, ask, dns);
    for (const prefix of PREFIXES) ids[prefix] ??= await make(party, prefix);
    insertRow(testApp, 'broadcastRecipients', {
      ...{ broadcastId: party.ids.brd, contactId: party.ids.ct, tenantId: party.tenantId },
      ...{ address: 'contact@rcpt.example', state: 'waiting', changedAt: 0 },
    });
    return party;
  };
  const { tenantId, testKey, liveKey } = testApp;
  const keys = { test: testKey, live: liveKey };
  return {
    ...{
      testApp,
      ask,
      make,
      wanted,
      addParty,
      runJobs,
      operations: operationsOf((await testApp.openServer()).openApi()),
    },
    owner: await settle({ tenantId, keys, testKeyId: await keyIdOf({ keys }) }),
    stranger: await settle(await addParty('stranger', [])),
    close: () => testApp.close(),
  };
}

function injected({ method, url, payload, type = 'application/json' }: Asked, key: string) {
  return {
    ...{ method, url },
    headers: {
      authorization: `Bearer ${key}`,
      ...(payload !== undefined && { 'content-type': type }),
    },
    ...(payload !== undefined && { payload }),
  };
}

/** Creates the domain, publishes its records and verifies it. */
async function addVerifiedDomain(
  party: Party,
  ask: Populated['ask'],
  dns: ReturnType<typeof zoneDns>,
): Promise<string> {
  const payload = JSON.stringify({ name: DOMAIN, productType: 'both' });
  const created = await ask(party, { method: 'POST', url: '/v1/domains', payload });
  const { id, records } = created.json<{ id: string; records: Published[] }>();
  dns.setZone(zoneOf(records));
  const verified = await ask(party, { method: 'POST', url: `/v1/domains/${id}/verify` });
  assert.equal(verified.json<{ status: string }>().status, 'verified', verified.body);
  return id;
}

/** Adds a report that another server has sent about the domain, and returns its id. */
function addReport(test: TestApp, { tenantId, domainId }: { tenantId: string; domainId: string }): string {
  const createdAt = test.app.clock.now();
  const id = newId('rep', createdAt);
  const details = JSON.stringify({ dmarc: null, tls: { policies: [] } });
  insertRow(test, 'receivedReports', {
    ...{
      id,
      tenantId,
      domainId,
      type: 'tls',
      reporter: 'big.example',
      registrableDomain: 'big.example',
      organization: 'Big',
      reportId: id,
    },
    ...{ beginAt: 0, endAt: 1, passed: 5, failed: 0, details, createdAt },
  });
  return id;
}

/** Adds a request to the log, and returns its id. */
async function addRequest(
  { app }: TestApp,
  asked: Pick<RequestLogRow, 'tenantId' | 'mode' | 'keyId'>,
): Promise<string> {
  const id = newId('req', app.clock.now());
  const answer = { status: 200, errorType: null, durationMs: 1, requestBytes: null, responseBytes: 2 };
  const request = { method: 'GET', route: '/v1/plan', path: '/v1/plan', address: '192.0.2.1' };
  const packed = packRequests([{ id, ...asked, ...request, ...answer }]);
  await app.db.commit(appendRequests, { packed, trimmed: [] });
  return id;
}

async function runWaiting(test: TestApp, tenantId: Id<'ten'>): Promise<void> {
  for (;;) {
    const files = await lease({ ...test, tenantId }, 'import');
    const lists = await lease({ ...test, tenantId }, 'export');
    if (files.length + lists.length === 0) return;
    for (const job of files) await runImport(test.app, importHandlerOf(job), job);
    for (const job of lists) await runExport(test.app, exportHandlers[job.kind], job);
  }
}

const AN_ID = /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g;

/**
 * Turns an example of the document into a request that the tenant can make: ids become its own ids of the same kind,
 * senders are at its domain, and the addresses of routes and mailboxes at the sandbox
 * domain.
 *
 * @throws Error for an id of an unknown kind
 */
export function fill<Example>(example: Example, { ids, domain }: Pick<Party, 'ids' | 'domain'>): Example {
  return JSON.parse(JSON.stringify(example), (field, value) => {
    if (typeof value !== 'string') return value;
    return fillText(field, value, domain).replace(AN_ID, (_, prefix: string) => {
      const id = new Map<string, string>(Object.entries(ids)).get(prefix);
      if (id === undefined) throw new Error(`the tenants of this test have no ${prefix}_`);
      return id;
    });
  });
}

function fillText(field: string, text: string, domain: string | undefined): string {
  switch (field) {
    case 'from':
      return text.replace(/@[\w.-]+/, `@${domain ?? DOMAIN}`);
    // A test key makes routes and mailboxes there alone.
    case 'address':
      return text.replace(/@[\w.-]+/, `@${domain ?? SANDBOX}`);
    case 'trackingSubdomain':
      return `links.${domain ?? DOMAIN}`;
    case 'mode':
      return 'test';
    default:
      return text;
  }
}

/** Returns the path of an operation with the tenant's ids. `others` replaces ids by the names of their parameters. */
export function pathOf(
  { path, ids }: Pick<ApiOperation, 'path' | 'ids'>,
  party: Pick<Party, 'ids'>,
  others: Readonly<Record<string, string>> = {},
): string {
  return ids.reduce(
    (filled, { name, prefix }) => filled.replace(`{${name}}`, others[name] ?? party.ids[prefix]),
    path.replace('{number}', '1'),
  );
}

/** Returns the body of an operation's example and its media type. */
export function payloadOf(body: unknown, type: string): Pick<Asked, 'payload' | 'type'> {
  return { type, payload: typeof body === 'string' ? body : JSON.stringify(body) };
}
