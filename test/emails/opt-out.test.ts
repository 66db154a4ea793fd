/** Marketing mail to readers who do not want it: as to suppressed ones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSpool, type Spool } from '../support/spool.ts';
import { emailBody, senderOf } from './fixtures.ts';

let spool: Spool;
let audienceId: string;
before(async () => {
  spool = await openSpool();
  audienceId = (await create('/v1/audiences', { name: 'Readers' })).id;
});
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

const marketing = (topicId: string, to: string | string[]) => ({ type: 'broadcast', topicId, to });

test('a reader who opted out of the topic, or of all, is left out as a suppressed one is', async () => {
  const topicId = await topic('News');
  const other = await topic('Offers');
  await contact('left@rcpt.example', { topics: [{ id: topicId, subscription: 'opt_out' }] });
  await contact('gone@rcpt.example', { unsubscribed: true });
  const to = ['Left@rcpt.example', 'gone@rcpt.example', 'reader@rcpt.example'];
  const email = await accepted(marketing(topicId, to));
  type Recipient = { status: string; diagnostic: string | null };
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
