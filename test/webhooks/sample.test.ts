/** A test post is only worth something if the real ones look like it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Value } from 'typebox/value';
import type { Verdict } from '../../src/domains/check.ts';
import { recordCheck } from '../../src/domains/store.ts';
import { EVENT_TYPES, type EventType, findEvent } from '../../src/events/store.ts';
import { createInboundApp } from '../../src/receiving/inbound-app.ts';
import { receiveMessage } from '../../src/receiving/receive.ts';
import { eventDataSchema } from '../../src/webhooks/event-schemas.ts';
import { sampleData } from '../../src/webhooks/sample.ts';
import { approvingIn, DECISION_MS } from '../approvals/approving.ts';
import { workOff } from '../broadcasts/sending/campaign.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';

const spool = await openSpool();
after(() => spool.close());
const { request, liveKey: key } = spool;
const DAY = 86_400_000;

const call = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => {
  const answer = await request(method, `/v1${path}`, { key, body });
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

async function makeMailEvents(): Promise<void> {
  const at = (name: string) => `${name}@simulator.mx.postrider.example`;
  await call('POST', '/suppressions', { email: at('nobody') });
  for (const name of ['delivered', 'bounced', 'complained', 'delayed', 'opened', 'clicked']) {
    await spool.accept([at(name), at('nobody')], { tags: { plan: 'pro' } });
  }
  await spool.deliverDue();
  const later = new Date(spool.clock.now() + DAY).toISOString();
  const id = await spool.accept(at('delivered'), { scheduledAt: later });
  await call('POST', `/emails/${id}/cancel`);
  await spool.accept(at('delivered'), { tags: { plan: 'pro' } });
  await spool.crashUntilHeld();
}

async function makeContactEvents(): Promise<void> {
  const { id: audience } = await call('POST', '/audiences', { name: 'Readers' });
  const { id: topic } = await call('POST', '/topics', { name: 'News' });
  const contacts = `/audiences/${audience}/contacts`;
  const { id } = await call('POST', contacts, {
    ...{ email: 'ada@example.com', firstName: 'Ada', properties: { plan: 'pro' } },
    topics: [{ id: topic, subscription: 'opt_in' }],
  });
  await call('PATCH', `${contacts}/${id}`, { lastName: 'Lovelace' });
  await call('PATCH', `${contacts}/${id}`, { unsubscribed: true });
  await call('DELETE', `${contacts}/${id}`);
}

async function makeSuppressionEvents(): Promise<void> {
  const { id } = await call('POST', '/suppressions', { email: 'eve@example.com' });
  await call('DELETE', `/suppressions/${id}`);
}

async function makeBroadcastEvents(): Promise<void> {
  const { id: audienceId } = await call('POST', '/audiences', { name: 'Readers' });
  const { id: topicId } = await call('POST', '/topics', { name: 'News' });
  const from = `ada@${SENDER_DOMAIN}`;
  const create = (more: object) =>
    call('POST', '/broadcasts', {
      ...{ audienceId, from, subject: 's', html: '{{{unsubscribe_url}}}', ...more },
    });
  const paused = await create({});
  await call('POST', `/broadcasts/${paused.id}/send`);
  await call('POST', `/broadcasts/${paused.id}/pause`);
  const scheduleAt = new Date(spool.clock.now()).toISOString();
  await create({ scheduleAt });
  await create({ scheduleAt, topicId });
  await call('DELETE', `/topics/${topicId}`);
  await workOff(spool);
}

/** The domain became verified when it was made. */
async function makeDomainEvents(): Promise<void> {
  const domain = await spool.app.db.read
    .selectFrom('domains')
    .select('id')
    .where('name', '=', SENDER_DOMAIN)
    .executeTakeFirstOrThrow();
  const absent: Verdict = { kind: 'absent', found: [], error: 'There is no such record' };
  for (const days of [0, 4]) {
    await spool.app.db.commit(recordCheck, {
      ...{ id: domain.id, tenantId: spool.tenantId, now: spool.clock.now() + days * DAY },
      ...{
        isAsked: false,
        spread: 0,
        verdicts: { SPF: absent, DKIM: absent, DMARC: absent, tracking: null, returnPath: null, mx: absent },
      },
    });
  }
}

/** Names of fields, of those within them, and what kind of value each holds; not what a caller may name at will. */
function shapeOf(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return 'value';
  if (name === 'tags' || name === 'properties') return name;
  const fields = Object.entries(value).map(([field, inner]) => [field, shapeOf(inner, field)]);
  return Object.fromEntries(fields.toSorted());
}

async function makeApprovalEvents(): Promise<void> {
  const { intern, decide, expire } = approvingIn(spool);
  const key = await intern('broadcasts_and_emails');
  const accept = () => spool.accept('bob@rcpt.example', { key });
  await decide(`/emails/${await accept()}`, 'approve');
  await decide(`/emails/${await accept()}`, 'decline');
  await call('POST', `/emails/${await accept()}/cancel`);
  await accept();
  await spool.clock.advance(DECISION_MS);
  await expire();
}

async function makeReceivedEvent(): Promise<void> {
  const { app, tenantId } = spool;
  const targets = [{ kind: 'post', targetId: 'rt_1' }] as const;
  const recipient = { targets, tenantId, address: 'info@example.com' };
  const envelope = {
    client: undefined,
    evaluation: { result: null, isSubmitted: true, isFlagged: false },
    sender: '',
    utf8: false,
    requireTls: false,
    recipients: [recipient],
    listings: [],
  };
  const inbound = createInboundApp(app);
  const begin = () => assert.fail('mail of this installation is not authenticated');
  const authenticator = { ...inbound.authenticator, begin };
  await receiveMessage({ ...inbound, authenticator }, envelope, body());
}

async function* body(): AsyncGenerator<Buffer> {
  yield Buffer.from('Subject: Hello\r\n\r\n');
}

test('a sample of each type has the fields of the real event, which are those of its schema', async () => {
  await makeMailEvents();
  await makeContactEvents();
  await makeSuppressionEvents();
  await makeBroadcastEvents();
  await makeApprovalEvents();
  await makeDomainEvents();
  await makeReceivedEvent();
  const events = await spool.app.db.read.selectFrom('events').select(['id', 'type']).execute();
  for (const { id } of events) {
    const { type = '', data = '' } = (await findEvent(spool.app.db.read, id)) ?? {};
    assert.deepEqual([...Value.Errors(eventDataSchema(type as EventType), JSON.parse(data))], [], type);
    assert.deepEqual(
      shapeOf(JSON.parse(data)),
      shapeOf(sampleData(type as EventType, spool.clock.now())),
      type,
    );
  }
  for (const type of EVENT_TYPES) {
    const fields = Object.keys(eventDataSchema(type).properties).toSorted();
    assert.deepEqual(fields, Object.keys(sampleData(type, 0)).toSorted(), type);
  }
  assert.deepEqual([...new Set(events.map(({ type }) => type))].toSorted(), EVENT_TYPES.toSorted());
});
