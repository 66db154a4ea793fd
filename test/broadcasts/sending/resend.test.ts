/** A broadcast is sent again to those who missed it: a segment of what became of the first one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BroadcastRow } from '../../../src/db/marketing-tables.ts';
import { insertRow } from '../fixtures.ts';
import { openCampaign } from './campaign.ts';

test('a second broadcast goes to those who got the first one and did not open it', async () => {
  await using campaign = await openCampaign();
  const { spool, sink } = campaign;
  const ask = (method: 'GET' | 'POST', path: string, body?: unknown, key = spool.liveKey) =>
    spool.request(method, `/v1${path}`, { key, ...(body !== undefined && { body }) });
  const deliver = async (id: string): Promise<string[]> => {
    assert.equal((await campaign.act(id, 'send')).status, 200);
    for (let rounds = 0; rounds < 10 && (await campaign.show(id)).status === 'sending'; rounds++) {
      await campaign.work();
      await spool.deliverDue();
      await spool.clock.advance(100);
    }
    return sink.messages.splice(0).flatMap(({ recipients }) => recipients);
  };
  const reader = await campaign.addContact('reader@readers.example');
  await campaign.addContact('missed@readers.example');
  const id = await campaign.draft();
  assert.equal((await deliver(id)).length, 2);
  await campaign.addContact('new@readers.example');
  insertRow(spool, 'broadcastEngagements', {
    ...{
      broadcastId: id as BroadcastRow['id'],
      contactId: reader,
      openedAt: 1,
      clickedAt: null,
      links: '[]',
    },
  });

  const { audienceId } = campaign;
  const ofBroadcast = (field: string, cmp: string, value: unknown = id) => ({ field, cmp, value });
  const count = async (...rules: object[]) => {
    const answer = await ask('POST', '/segments/count', { audienceId, filter: { op: 'and', rules } });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.contactCount;
  };
  assert.equal(await count(ofBroadcast('delivered', 'eq')), 2);
  assert.equal(await count(ofBroadcast('delivered', 'within_days', 1)), 2);
  assert.equal(await count(ofBroadcast('delivered', 'not_within_days', 1)), 1);
  const rules = [ofBroadcast('delivered', 'eq'), ofBroadcast('opened', 'ne')];
  const segment = await ask('POST', '/segments', {
    name: 'Missed',
    audienceId,
    filter: { op: 'and', rules },
  });
  assert.equal(segment.status, 201, JSON.stringify(segment.body));
  const again = await campaign.draft({ audienceId: undefined, segmentId: segment.body.id });
  assert.deepEqual(await deliver(again), ['missed@readers.example']);

  const other = await spool.addTenant('other');
  const theirs = await ask('POST', '/audiences', { name: 'Theirs' }, other.liveKey);
  const filter = { op: 'or', rules };
  const refused = await ask('POST', '/segments/count', { audienceId: theirs.body.id, filter }, other.liveKey);
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'filter.rules[0].value']);
  assert.match(refused.body.error.message, /does not name one of your broadcasts/);
});
