/** Sources of mail that was just accepted reach those who deliver it, within bounds, and make the same bytes as what is stored. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLinks } from '../../../src/links/links.ts';
import { createHandOver, type Handed, HandedSources } from '../../../src/queue/contents/handed.ts';
import { openMessage } from '../../../src/queue/contents/open.ts';
import { packSmall } from '../../../src/queue/contents/source.ts';
import { findMessage } from '../../../src/queue/store.ts';
import { openTestApp } from '../../support/test-app.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const source = { text: 'Hello' };
const mail = (id: string, sizeBytes = 5): Handed => ({ id, source, sizeBytes });

test('sources of one turn go together, and what is packed or absent is left out', async () => {
  const sent: (readonly Handed[])[] = [];
  const handOver = createHandOver(async (handed) => void sent.push(handed));
  handOver(mail('a'));
  handOver({ id: 'b', source: packSmall(source), sizeBytes: 5 });
  handOver({ id: 'c', source: undefined, sizeBytes: 0 });
  handOver(mail('d'));
  assert.deepEqual(sent, []);
  await turn();
  assert.deepEqual(sent, [[mail('a'), mail('d')]]);
});

test('at most a megabyte is on its way, until the thread has answered or is gone', async () => {
  const sent: (readonly Handed[])[] = [];
  let answer = Promise.withResolvers<void>();
  const handOver = createHandOver((handed) => {
    sent.push(handed);
    return answer.promise;
  });
  const third = 400_000;
  for (const id of ['a', 'b', 'c']) handOver(mail(id, third));
  await turn();
  assert.deepEqual(sent, [[mail('a', third), mail('b', third)]], 'the third is left out');
  handOver(mail('d', third));
  await turn();
  assert.equal(sent.length, 1);
  const before = answer;
  answer = Promise.withResolvers();
  before.reject(new Error('the thread has ended'));
  await turn();
  handOver(mail('e', third));
  await turn();
  assert.deepEqual(sent[1], [mail('e', third)]);
});

test('a source is taken once, and the oldest give way', () => {
  const handed = new HandedSources();
  handed.keep([mail('a')]);
  assert.deepEqual([handed.take('a'), handed.take('a'), handed.take('b')], [source, undefined, undefined]);
  handed.keep([mail('c', 3_000_000), mail('d', 2_000_000)]);
  assert.deepEqual([handed.take('c'), handed.take('d')], [undefined, source]);
});

test('live emails that are due are handed over, and make the bytes that a later attempt composes from the database', async () => {
  const handed: Handed[] = [];
  const { app, request, testKey, liveKey, close } = await openTestApp({
    handOver({ id, source: given, sizeBytes }) {
      if (given && !('source' in given)) handed.push({ id, source: given, sizeBytes });
    },
  });
  after(close);
  const email = {
    ...{ from: 'ada@sandbox.mx.postrider.example', to: 'delivered@simulator.mx.postrider.example' },
    ...{ subject: 'Hi', html: '<p>Grüße</p>', type: 'transactional' },
  };
  const scheduledAt = new Date(app.clock.now() + 3_600_000).toISOString();
  for (const [key, body] of [
    [testKey, email],
    [liveKey, email],
    [liveKey, { ...email, scheduledAt }],
  ] as const) {
    const { status } = await request('POST', '/v1/emails', { key, body });
    assert.equal(status, 200);
  }
  const { status, body } = await request('POST', '/v1/emails/batch', {
    key: liveKey,
    body: { emails: [email] },
  });
  assert.deepEqual([status, handed.length, handed[1]?.id], [200, 2, body.data[0].id]);
  const sources = new HandedSources();
  sources.keep(handed);
  const message = (await findMessage(app.db.read, handed[0]?.id ?? '')) ?? assert.fail();
  const links = createLinks(app);
  const composed = async (from: object) =>
    String((await openMessage({ ...app, links, ...from }, { message })).bytes.inline);
  // The row of another message cannot be what was composed.
  const unread = { ...message, contentId: -1 };
  const fromHanded = await openMessage({ ...app, links, handed: sources }, { message: unread });
  assert.equal(String(fromHanded.bytes.inline), await composed({}));
  assert.match(await composed({ handed: sources }), /R3LDvMOfZQ==/, 'what was taken is read');
});
