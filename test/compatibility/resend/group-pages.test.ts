/** Pages of a segment whose contacts are far apart, which our operation answers with short pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Given } from '../../../src/compatibility/resend/call.ts';
import { listGroup } from '../../../src/compatibility/resend/contacts/group-pages.ts';
import type { Group } from '../../../src/compatibility/resend/contacts/segments.ts';
import type { Calls } from '../../../src/http/json/calls.ts';

const group = { audienceId: 'aud_1', segment: { id: 'seg_1' } } as Group;
const given = (query: object) => ({ params: {}, query, body: undefined, headers: {}, now: 0 }) as Given;
const contacts = (...ids: string[]) => ids.map((id) => ({ id, email: id }));

/** Returns calls that answer one page after the other, the last one again and again, and what was asked. */
function answering(pages: readonly object[]) {
  const asked: object[] = [];
  const get = async (_path: string, query: object) => {
    asked.push(query);
    return pages[Math.min(asked.length, pages.length) - 1];
  };
  return { asked, calls: { get } as unknown as Calls };
}

const idsOf = (page: { data: unknown[] }) => page.data.map((contact) => (contact as { id: string }).id);

test('short pages are joined until there are as many contacts as were asked for', async () => {
  const { asked, calls } = answering([
    { data: [], hasMore: true, nextCursor: 'ct_9' },
    { data: contacts('ct_8'), hasMore: true, nextCursor: 'ct_7' },
    { data: contacts('ct_6', 'ct_5'), hasMore: true, nextCursor: 'ct_5' },
  ]);
  const page = await listGroup(group, given({ limit: 3, after: 'ct_a' }), calls);
  assert.deepEqual([idsOf(page), page.has_more], [['ct_8', 'ct_6', 'ct_5'], true]);
  assert.deepEqual(asked, [
    { limit: 3, startingAfter: 'ct_a' },
    { limit: 3, startingAfter: 'ct_9' },
    { limit: 2, startingAfter: 'ct_7' },
  ]);
});

test('pages towards newer contacts are joined the other way round', async () => {
  const { asked, calls } = answering([
    { data: contacts('ct_2'), hasMore: true, nextCursor: 'ct_2', previousCursor: 'ct_3' },
    { data: contacts('ct_5', 'ct_4'), hasMore: false, nextCursor: 'ct_4', previousCursor: null },
  ]);
  const page = await listGroup(group, given({ before: 'ct_1' }), calls);
  assert.deepEqual([idsOf(page), page.has_more], [['ct_5', 'ct_4', 'ct_2'], false]);
  assert.deepEqual(asked, [{ endingBefore: 'ct_1' }, { endingBefore: 'ct_3', limit: 19 }]);
});

test('a page ends after a bounded number of requests', async () => {
  const { asked, calls } = answering([{ data: [], hasMore: true, nextCursor: 'ct_9' }]);
  const page = await listGroup(group, given({}), calls);
  assert.deepEqual([page.data, page.has_more, asked.length], [[], true, 50]);
});
