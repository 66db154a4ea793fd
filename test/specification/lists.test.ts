/** Every list of the specification pages alike (specification 2.12 and 4.13), on the whole API. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newId } from '../../src/system/ids.ts';
import { addDomain } from '../domains/fixtures.ts';
import { emailBody, SANDBOX } from '../emails/fixtures.ts';
import { addReceived } from '../inbound/fixtures.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const ITEMS = 23;

async function create(path: string, body: object): Promise<string> {
  const answer = await world.request('POST', `/v1${path}`, { body });
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

const audienceId = await create('/audiences', { name: 'Readers' });
const filter = { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] };

const mailbox = await addMailbox(world, { address: `owner@${SANDBOX}`, id: newId('mbx', 0) });

/** How to make one item of each list; `number` tells it from the others. */
const LISTS: Record<string, (number: number) => Promise<string>> = {
  '/emails': () => create('/emails', emailBody()),
  '/domains': async (number) =>
    (
      await addDomain(world, {
        name: `d${number}.example`,
        id: newId('dom', clock.now()),
        createdAt: clock.now(),
      })
    ).id,
  '/templates': () => create('/templates', { name: 'n', subject: 's', html: 'h' }),
  '/broadcasts': () =>
    create('/broadcasts', {
      ...{ audienceId, from: `a@${SANDBOX}`, subject: 's', html: '{{{unsubscribe_url}}}' },
    }),
  '/segments': () => create('/segments', { name: 'n', audienceId, filter }),
  '/audiences': () => create('/audiences', { name: 'n' }),
  '/audiences/{audienceId}/contacts': (number) =>
    create(`/audiences/${audienceId}/contacts`, { email: `c${number}@a.example` }),
  '/topics': () => create('/topics', { name: 'n' }),
  '/suppressions': (number) => create('/suppressions', { email: `s${number}@a.example` }),
  '/inbound/routes': (number) =>
    create('/inbound/routes', { address: `${number}@${SANDBOX}`, destination: 'https://a.example/' }),
  '/inbound/messages': () => addReceived(world),
  '/mailboxes': async (number) => (await addMailbox(world, { address: `${number}@${SANDBOX}` })).id,
  '/mailboxes/{mailboxId}/app-passwords': async () => (await addAppPassword(world, mailbox)).row.id,
  '/mailboxes/{mailboxId}/imports': () =>
    create(`/mailboxes/${mailbox.id}/imports`, { host: 'imap.example.com', user: 'a', password: 'b' }),
  '/api-keys': () => create('/api-keys', { name: 'n', permission: 'read_only' }),
  '/webhooks': () => create('/webhooks', { url: 'https://a.example/', events: ['email.sent'] }),
};

function urlOf(path: string): string {
  return `/v1${path.replace('{audienceId}', audienceId).replace('{mailboxId}', mailbox.id)}`;
}

type Page = { data: { id: string }[]; hasMore: boolean; nextCursor: string | null };

/** Emails and received messages cannot be deleted. */
const KEPT = ['/emails', '/inbound/messages'];

for (const [path, make] of Object.entries(LISTS)) {
  test(`GET /v1${path} pages as every list does`, async () => {
    for (let number = 0; number < ITEMS; number++) {
      await clock.advance(1);
      await make(number);
    }
    const url = urlOf(path);
    const list = async (query: string) => {
      const { status, body } = await world.request('GET', `${url}?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(Object.keys(body).sort(), ['data', 'hasMore', 'nextCursor']);
      const { data, hasMore, nextCursor } = body as Page;
      return { ids: data.map(({ id }) => id), hasMore, nextCursor };
    };
    const { ids } = await list('limit=100');
    const { createdAt } = (await world.request('GET', `${url}?startingAfter=${ids[4]}&limit=1`)).body.data[0];
    const time = encodeURIComponent(createdAt);
    assert.deepEqual((await list(`createdAfter=${time}`)).ids, ids.slice(0, 6), 'from that time on');
    assert.deepEqual((await list(`createdBefore=${time}&limit=3`)).ids, ids.slice(6, 9), 'before that time');
    assert.ok(ids.length >= ITEMS && ids.length < 100);
    assert.deepEqual(ids, ids.toSorted().toReversed(), 'newest first');
    assert.deepEqual(await list(''), { ids: ids.slice(0, 20), hasMore: true, nextCursor: ids[19] });
    const walked: string[] = [];
    for (let next: string | null | undefined; next !== null; ) {
      const page = await list(next === undefined ? 'limit=9' : `limit=9&startingAfter=${next}`);
      walked.push(...page.ids);
      assert.equal(page.hasMore, page.nextCursor !== null);
      next = page.nextCursor;
    }
    assert.deepEqual(walked, ids, 'each once, and to the end');
    assert.deepEqual((await list(`startingAfter=${ids[4]}&limit=3`)).ids, ids.slice(5, 8));
    const back = { ids: ids.slice(1, 4), hasMore: true, nextCursor: ids[3] };
    assert.deepEqual(await list(`endingBefore=${ids[4]}&limit=3`), back);
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      [`startingAfter=${ids[0]}&endingBefore=${ids[4]}`, 'endingBefore'],
    ]) {
      const { status, body } = await world.request('GET', `${url}?${query}`);
      assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', param], query);
    }
    await clock.advance(1);
    const newest = await make(ITEMS + 1);
    if (!KEPT.includes(path))
      for (const id of [ids[8], ids[12]])
        assert.equal((await world.request('DELETE', `${url}/${id}`)).status, 204);
    const left = KEPT.includes(path) ? ids : ids.toSpliced(12, 1);
    const stable = 'though one has come, and the cursor is gone';
    assert.deepEqual((await list(`startingAfter=${ids[8]}&limit=9`)).ids, left.slice(9, 18), stable);
    const newer = await list(`endingBefore=${ids[8]}&limit=100`);
    assert.deepEqual(newer.ids, [newest, ...ids.slice(0, 8)], stable);
  });
}

test('every item says in ISO 8601 when it was made', async () => {
  for (const [path, make] of Object.entries(LISTS)) {
    await clock.advance(1_001);
    await make(ITEMS);
    const { body } = await world.request('GET', `${urlOf(path)}?limit=1`);
    const [{ createdAt }] = body.data;
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, path);
    assert.equal(Date.parse(createdAt), clock.now(), path);
  }
});
