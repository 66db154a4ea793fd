/** Marketing mail to readers who do not want it: as to suppressed ones. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { NO_REPORT } from '../../src/queue/outcome/outcome.ts';
import { notSent } from '../../src/queue/transport.ts';
import { deliverBy, openSpool } from '../support/spool.ts';
import { emailBody, senderOf } from './fixtures.ts';

const spool = await openSpool();
const audienceId = (await create('/v1/audiences', { name: 'Readers' })).id;
after(() => spool.close());

const { send, accepted } = senderOf(() => spool);

async function create(path: string, body: object) {
  const created = await spool.request('POST', path, { body });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return created.body;
}

async function topic(name: string, defaultOptIn = true): Promise<string> {
  return (await create('/v1/topics', { name, defaultOptIn })).id;
}

const contact = (email: string, more: object = {}) =>
  create(`/v1/audiences/${audienceId}/contacts`, { email, ...more });

async function change(email: string, fields: object): Promise<void> {
  const path = `/v1/audiences/${audienceId}/contacts/${email}`;
  const { status, body } = await spool.request('PATCH', path, { body: fields });
  assert.equal(status, 200, JSON.stringify(body));
}

type Recipient = { status: string; diagnostic: string | null };

const HOUR_MS = 3_600_000;
const inAnHour = () => new Date(spool.clock.now() + HOUR_MS).toISOString();
const DEFERRED = { kind: 'deferred', report: { ...NO_REPORT, phase: 'local', text: 'Later' } } as const;

/** Tries to deliver everything due, which is put off, and returns the readers of one email who would have got it. */
async function readersOf(emailId: string): Promise<string[]> {
  const readers: string[] = [];
  for (let claims = await spool.claim(); claims.length > 0; claims = await spool.claim()) {
    for (const claim of claims) {
      if (claim.message.id === emailId) readers.push(...claim.recipients.map(({ address }) => address));
      await deliverBy(spool.app, claim, async () => notSent(claim, DEFERRED));
    }
  }
  return readers.sort();
}

const marketing = (topicId: string, to: string | string[]) => ({ type: 'broadcast', topicId, to });

test('a reader who opted out of the topic, or of all, is left out as a suppressed one is', async () => {
  const topicId = await topic('News');
  const other = await topic('Offers');
  await contact('left@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_out' }] });
  await contact('gone@rcpt.example', { unsubscribed: true });
  const to = ['Left@rcpt.example', 'gone@rcpt.example', 'reader@rcpt.example'];
  const email = await accepted(marketing(topicId, to));
  assert.deepEqual(
    email.recipients.map(({ status, diagnostic }: Recipient) => [status, diagnostic]),
    [
      ['suppressed', 'The reader has unsubscribed'],
      ['suppressed', 'The reader has unsubscribed'],
      ['queued', null],
    ],
  );
  const elsewhere = await accepted(marketing(other, ['left@rcpt.example', 'gone@rcpt.example']));
  assert.deepEqual(
    elsewhere.recipients.map(({ status }: Recipient) => status),
    ['queued', 'suppressed'],
  );
});

test('marketing mail whose recipients have all opted out is refused, whatever its size, alone and in a batch', async () => {
  const topicId = await topic('Weekly');
  await contact('weekly@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_out' }] });
  const body = marketing(topicId, 'weekly@rcpt.example');
  const large = { ...body, attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }] };
  for (const more of [body, large]) {
    const refused = await send(more);
    assert.deepEqual([refused.status, refused.body.error.type], [422, 'suppressed_recipient']);
    assert.match(refused.body.error.message, /unsubscribed/);
  }
  const emails = [emailBody(body), emailBody({ ...body, to: 'other@rcpt.example' })];
  const batch = await spool.request('POST', '/v1/emails/batch', { body: { emails } });
  assert.deepEqual(
    batch.body.data.map(({ status, error }: { status: string; error?: { type: string } }) => [
      status,
      error?.type,
    ]),
    [
      ['failed', 'suppressed_recipient'],
      ['queued', undefined],
    ],
  );
});

test('mail of a topic that is off by default goes only to contacts who opted in', async () => {
  const topicId = await topic('Beta', false);
  await contact('chose@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_in' }] });
  const email = await accepted(marketing(topicId, ['chose@rcpt.example', 'stranger@rcpt.example']));
  const [chose, stranger] = email.recipients;
  assert.deepEqual([chose.status, stranger.status], ['queued', 'suppressed']);
  // Who never was a reader is not said to have left.
  assert.match(stranger.diagnostic, /has not opted in to the topic/);
  const refused = await send(marketing(topicId, 'stranger@rcpt.example'));
  assert.equal(refused.status, 422);
  assert.match(refused.body.error.message, /have not opted in/);
});

test('transactional mail reaches everybody, also with a topic', async () => {
  const topicId = await topic('Receipts');
  await contact('out@rcpt.example', {
    unsubscribed: true,
    topics: [{ id: topicId, subscription: 'opt_out' }],
  });
  for (const more of [{}, { topicId }]) {
    const email = await accepted({ ...more, to: 'out@rcpt.example' });
    assert.equal(email.recipients[0].status, 'queued');
  }
});

test('opt-outs of another tenant have no effect', async () => {
  const topicId = await topic('Shared');
  const other = await spool.addTenant('other');
  const { body } = await spool.request('POST', '/v1/audiences', {
    key: other.testKey,
    body: { name: 'Theirs' },
  });
  const theirs = await spool.request('POST', `/v1/audiences/${body.id}/contacts`, {
    key: other.testKey,
    body: { email: 'shared@rcpt.example', unsubscribed: true },
  });
  assert.equal(theirs.status, 201);
  assert.equal((await send(marketing(topicId, 'shared@rcpt.example'))).status, 200);
});

test('a reader who leaves after the mail was accepted is not sent to, nor tried again', async () => {
  const topicId = await topic('Late');
  const readers = ['first@rcpt.example', 'second@rcpt.example', 'stays@rcpt.example'];
  for (const reader of readers.slice(0, 2)) await contact(reader);
  const id = await spool.accept(readers, { ...marketing(topicId, readers), scheduledAt: inAnHour() });
  await change('first@rcpt.example', { unsubscribed: true });
  await spool.clock.advance(2 * HOUR_MS);
  assert.deepEqual(await readersOf(id), ['second@rcpt.example', 'stays@rcpt.example']);
  await change('second@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_out' }] });
  await spool.clock.advance(HOUR_MS);
  assert.deepEqual(await readersOf(id), ['stays@rcpt.example']);
  const shown = await spool.email(id);
  assert.deepEqual(
    shown.recipients.map(({ status, diagnostic }: Recipient) => [status, diagnostic]).slice(0, 2),
    [
      ['suppressed', 'The reader has unsubscribed'],
      ['suppressed', 'The reader has unsubscribed'],
    ],
  );
});

test('a topic that is deleted before the mail is due excludes nobody but those who left', async () => {
  const topicId = await topic('Brief', false);
  await contact('brief@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_in' }] });
  await contact('left-all@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_in' }] });
  const to = ['brief@rcpt.example', 'left-all@rcpt.example'];
  const id = await spool.accept(to, { ...marketing(topicId, to), scheduledAt: inAnHour() });
  await spool.request('DELETE', `/v1/topics/${topicId}`, {});
  await change('left-all@rcpt.example', { unsubscribed: true });
  await spool.clock.advance(2 * HOUR_MS);
  assert.deepEqual(await readersOf(id), ['brief@rcpt.example']);
});
