/** The columns of a domain that sending uses are read once, and again after any change of them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import { TableChanges } from '../../src/db/table-changes.ts';
import { cacheNamedDomains } from '../../src/domains/named-domains.ts';
import { openCountedReads } from '../support/counted-reads.ts';

import { openTestApp } from '../support/test-app.ts';
import { addDomain } from './fixtures.ts';

test('a domain is read once for each tenant, and again when any column of the answer has changed', async () => {
  const world = await openTestApp();
  const { app, tenantId, dataDir } = world;
  const counted = openCountedReads(world);
  const side = openWriting(join(dataDir, 'postrider.db'), 'NORMAL');
  after(async () => {
    side.close();
    counted.close();
    await world.close();
  });
  const changes = new TableChanges();
  const commit = changes.watch(side);
  const find = cacheNamedDomains({ db: { ...app.db, changes, read: counted.read } });
  const { id } = await addDomain(world, { name: 'sends.example', status: 'verified' });
  const isRead = async () => {
    const before = counted.queries;
    assert.equal((await find(tenantId, 'sends.example'))?.id, id);
    return counted.queries > before;
  };
  assert.deepEqual([await isRead(), await isRead()], [true, false]);
  assert.equal(await find('ten_other', 'sends.example'), undefined);
  assert.equal(await isRead(), false);
  const columns = Object.keys((await find(tenantId, 'sends.example')) ?? {}).filter((name) => name !== 'id');
  assert.ok(columns.length > 6);
  for (const column of [...columns, 'deletedAt']) {
    side.exec(`UPDATE domains SET "${column}" = "${column}" WHERE name = 'sends.example'`);
    commit();
    assert.deepEqual([await isRead(), await isRead()], [true, false], column);
  }
});
