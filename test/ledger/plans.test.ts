/** How SQLite reads the ledger: by the state, and never through contacts in other states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listInState } from '../../src/ledger/store.ts';
import { newId } from '../../src/system/ids.ts';
import { explain } from '../support/explain.ts';

test('the contacts in a state are a range of the index', async () => {
  const query = { broadcastId: newId('brd', 0), state: 'waiting', after: '', limit: 5 } as const;
  const text = (await explain((tx) => listInState(tx, query))).join('\n');
  assert.match(
    text,
    /INDEX broadcastRecipientsByState \(broadcastId=\? AND state=\? AND contactId>\?\)/,
    text,
  );
  assert.doesNotMatch(text, /SCAN broadcast|TEMP B-TREE/, text);
});
