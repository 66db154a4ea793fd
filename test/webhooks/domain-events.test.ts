/** Which events an endpoint of one domain gets, and what they say. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { openWriting } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Tables } from '../../src/db/tables.ts';
import { EVENT_TYPES, type EventType, recordEvent } from '../../src/events/store.ts';
import { newId } from '../../src/system/ids.ts';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
import { insertRow, type Row } from '../broadcasts/fixtures.ts';
import { openPopulated } from '../support/resources/populated.ts';
import { addFamily, type Family } from '../tenancy/families.ts';

const world = await openPopulated();
const { app, dataDir } = world.testApp;
const database = openWriting(join(dataDir, 'postrider.db'), 'NORMAL');
const side = kyselyOn<Tables>(database);
const home = await addFamily(world, 'home.example');
const away = await addFamily(world, 'away.example');
after(async () => {
  database.close();
  await world.close();
});

const TO = ['support@home.example', 'sales@away.example'];
const received = (recipients: readonly string[]) => ({ id: 'in_1', to: recipients[0], recipients });

/** The data of an event about something of a domain. */
function dataOf(type: EventType, { ids, domain }: Family): object {
  if (type === 'email.received') return received([`x@${domain}`]);
  if (type.startsWith('email.')) return { to: 'bob@rcpt.example' };
  if (type.startsWith('domain.')) return { domainId: ids.dom, name: domain, status: 'verified' };
  if (type.startsWith('broadcast.')) return { id: ids.brd };
  if (type.startsWith('approval.')) return { id: ids.apr };
  return { id: ids.ct, email: 'bob@rcpt.example' };
}

async function record(type: EventType, data: object, emailId: string | null = null): Promise<string> {
  const createdAt = app.clock.now();
  const id = newId('evt', createdAt);
  await recordEvent(side, { id, tenantId: home.tenantId, mode: 'live', type, emailId, data, createdAt });
  return id;
}

async function fanOut(): Promise<void> {
  await app.db.commit(fanOutEvents, { now: app.clock.now(), limit: 1_000 });
}

type Delivery = { id: string; eventId: string; eventType: string };

async function deliveriesOf({ ids, keys }: Family): Promise<Delivery[]> {
  const url = `/v1/webhooks/${ids.wh}/deliveries?limit=100`;
  return (await world.ask({ keys }, { method: 'GET', url }, 'live')).json<{ data: Delivery[] }>().data;
}

test('an endpoint of one domain gets every kind of event of that domain, and none of another', async () => {
  const events = new Map<Family, string[]>([home, away].map((family) => [family, []]));
  for (const type of EVENT_TYPES)
    for (const family of [home, away]) {
      const isEmail = type.startsWith('email.') && type !== 'email.received';
      events.get(family)?.push(await record(type, dataOf(type, family), isEmail ? family.ids.em : null));
    }
  await fanOut();
  const isOfTenant = (type: string) => /^(contact|suppression)\./.test(type);
  for (const [family, recorded] of events) {
    const got = (await deliveriesOf(family)).filter(({ eventId }) =>
      [...events.values()].flat().includes(eventId),
    );
    assert.deepEqual(
      got.map(({ eventType }) => eventType).toSorted(),
      EVENT_TYPES.filter((type) => !isOfTenant(type)).toSorted(),
    );
    assert.ok(got.every(({ eventId }) => recorded.includes(eventId)));
  }
});

test('an event about a message for two domains names each endpoint the recipients of its domain', async () => {
  const eventId = await record('email.received', received(TO));
  await fanOut();
  for (const [index, family] of [home, away].entries()) {
    const delivery = (await deliveriesOf(family)).find((one) => one.eventId === eventId) ?? assert.fail();
    const url = `/v1/webhooks/${family.ids.wh}/deliveries/${delivery.id}`;
    const shown = (await world.ask(family, { method: 'GET', url }, 'live')).json();
    const { data } = JSON.parse(shown.requestBody);
    assert.deepEqual([data.to, data.recipients], [TO[index], [TO[index]]]);
  }
});

test('an endpoint of the whole tenant gets all of it, once', async () => {
  const payload = JSON.stringify({ url: 'https://receiver.example/all', events: ['email.received'] });
  const made = await world.ask(
    { keys: home.whole },
    { method: 'POST', url: '/v1/webhooks', payload },
    'live',
  );
  const { id: wh, domainId } = made.json<{ id: string; domainId: string | null }>();
  assert.equal(domainId, null);
  await record('email.received', received(TO));
  await fanOut();
  const [delivery, ...more] = await deliveriesOf({ ...home, keys: home.whole, ids: { ...home.ids, wh } });
  assert.equal(more.length, 0);
  const url = `/v1/webhooks/${wh}/deliveries/${delivery?.id}`;
  const shown = await world.ask({ keys: home.whole }, { method: 'GET', url }, 'live');
  assert.deepEqual(JSON.parse(shown.json().requestBody).data.recipients, TO);
});

test('the domains of an event are looked up once, however many endpoints have one', async () => {
  const select = database.prepare<[string], Row>('SELECT * FROM webhookEndpoints WHERE id = ?');
  const row = select.get(home.ids.wh) ?? assert.fail();
  const endpoints = Array.from({ length: 40 }, () => newId('wh', app.clock.now()));
  for (const id of endpoints) insertRow(world.testApp, 'webhookEndpoints', { ...row, id });
  await record('email.queued', dataOf('email.queued', away), away.ids.em);
  await record('email.received', dataOf('email.received', away));
  const statements: unknown[] = [];
  const counted = new Sqlite(join(dataDir, 'postrider.db'), { verbose: (sql) => statements.push(sql) });
  const { events } = await fanOutEvents.run(kyselyOn<Tables>(counted), {
    now: app.clock.now(),
    limit: 1_000,
  });
  counted.close();
  assert.equal(events, 2);
  assert.ok(statements.length < endpoints.length, `${statements.length} statements`);
});
