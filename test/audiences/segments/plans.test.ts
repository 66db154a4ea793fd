/** How SQLite goes about segments: by which index, and that it never sorts or walks an audience that was not asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter } from '../../../src/audiences/segments/filter.ts';
import { countIdRange, findIdRange, readSegmentSlice } from '../../../src/audiences/segments/store.ts';
import { newId } from '../../../src/system/ids.ts';
import { explain } from '../../support/explain.ts';

const tenantId = newId('ten', 0);
const audienceId = newId('aud', 0);

const FILTERS: Filter[] = [
  { op: 'and', rules: [{ field: 'properties.a', cmp: 'eq', value: 'b' }] },
  { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] },
  { op: 'and', rules: [{ field: 'createdAt', cmp: 'within_days', value: 3 }] },
  { op: 'or', rules: [{ field: 'email', cmp: 'in', value: ['a@b.example'] }] },
];

test('a slice looks ahead by the index alone, and then at no contact beyond', async () => {
  const slice = { tenantId, audienceId, now: 0, after: newId('ct', 0), scan: 10 };
  const addContact = async (tx: Parameters<Parameters<typeof explain>[0]>[0]) => {
    const id = newId('ct', 1);
    const blank = {
      firstName: null,
      lastName: null,
      unsubscribedAt: null,
      topics: '{}',
      properties: '{}',
      pending: 0 as const,
      consent: null,
    };
    const contact = {
      id,
      tenantId,
      audienceId,
      email: 'a',
      address: 'a',
      unsubscribed: 0 as const,
      ...blank,
    };
    await tx
      .insertInto('contacts')
      .values({ ...contact, createdAt: 0, updatedAt: 0 })
      .execute();
  };
  for (const filter of FILTERS) {
    for (const direction of ['newer', 'older'] as const) {
      const after = newId('ct', direction === 'newer' ? 0 : 2);
      const plan = await explain(async (tx) => {
        await addContact(tx);
        const idRange = await findIdRange.run(tx, slice);
        assert.ok(idRange);
        await countIdRange.run(tx, { ...slice, filter, idRange });
        await readSegmentSlice.run(tx, { ...slice, after, filter, limit: 3, direction });
      });
      const text = plan.join('\n');
      const cursor = direction === 'newer' ? '>' : '<';
      assert.match(
        text,
        /SEARCH contacts USING COVERING INDEX contactsByAudience \(audienceId=\? AND id>\?\)/,
      );
      assert.ok(text.includes(`COVERING INDEX contactsByAudience (audienceId=? AND id${cursor}?)`), text);
      const scans = plan.filter((line) => /^SEARCH contacts USING INDEX/.test(line));
      assert.equal(scans.length, 2, text);
      for (const line of scans)
        assert.match(
          line,
          /INDEX contactsBy\w+ \(audienceId=\? (AND unsubscribed=\? )?AND id>\? AND id<\?\)/,
          text,
        );
      assert.doesNotMatch(text, /TEMP B-TREE FOR ORDER|SCAN contacts|OFFSET/, text);
    }
  }
});
