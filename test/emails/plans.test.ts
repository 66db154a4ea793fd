/** How SQLite goes about a list of emails: by which index first, and that it never sorts a history. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmailFilter } from '../../src/emails/list/store.ts';
import { listEmails } from '../../src/emails/store.ts';
import { explain } from '../support/explain.ts';

const tag = { key: 'a', value: 'b' };

/** The filter, the index the walk goes along, and what else must be looked up by its index. */
const PLANS: readonly [filter: EmailFilter, walk: RegExp, others: RegExp[]][] = [
  [{}, /SEARCH emails USING COVERING INDEX emailsByTenant \(tenantId=\? AND mode=\?/, []],
  [
    { status: 'bounced' },
    /SEARCH messages USING COVERING INDEX messagesByStatus \(tenantId=\? AND mode=\? AND status=\?/,
    [],
  ],
  [
    { fromAddress: 'a@b.example' },
    /SEARCH emails USING COVERING INDEX emailsByFrom \(tenantId=\? AND mode=\? AND fromAddress=\?/,
    [],
  ],
  [
    { fromDomain: 'b.example' },
    /SEARCH emails USING COVERING INDEX emailsByFromDomain \(tenantId=\? AND mode=\? AND fromDomain=\?/,
    [],
  ],
  [
    { to: 'a@b.example' },
    /SEARCH emailAddresses USING PRIMARY KEY \(tenantId=\? AND mode=\? AND address=\?/,
    [],
  ],
  [
    { tags: [tag] },
    /SEARCH emailTags USING PRIMARY KEY \(tenantId=\? AND mode=\? AND key=\? AND value=\?/,
    [],
  ],
  [
    { to: 'a@b.example', tags: [tag], status: 'sent', fromDomain: 'b.example' },
    /SEARCH emailAddresses USING PRIMARY KEY \(tenantId=\? AND mode=\? AND address=\?/,
    [
      /SEARCH emailTags EXISTS USING PRIMARY KEY \(tenantId=\? AND mode=\? AND key=\? AND value=\? AND emailId=\?\)/,
    ],
  ],
  ...(['deferred', 'bounced', 'complained', 'suppressed', 'canceled'] as const).map(
    (recipientStatus): [EmailFilter, RegExp, RegExp[]] => [
      { recipientStatus },
      /SEARCH emails USING COVERING INDEX emailsByTenant \(tenantId=\? AND mode=\? AND id=\?\)/,
      [/SEARCH recipients USING COVERING INDEX recipientsByState \(tenantId=\? AND state=\?\)/],
    ],
  ),
  [
    { recipientStatus: 'sent' },
    /SEARCH emails USING COVERING INDEX emailsByTenant/,
    [/recipients USING INDEX recipientsInFlight/],
  ],
  [
    { recipientStatus: 'queued' },
    /SEARCH emails USING COVERING INDEX emailsByTenant/,
    [/recipients USING INDEX recipientsDue/],
  ],
  [
    { recipientStatus: 'delivered' },
    /SEARCH emails USING COVERING INDEX emailsByTenant/,
    [/SEARCH recipients EXISTS USING INDEX recipientsByMessage \(messageId=\?\)/],
  ],
];

const CURSORS = [{}, { startingAfter: 'em_1' }, { endingBefore: 'em_1' }];

for (const [filter, walk, others] of PLANS) {
  test(`a list by ${Object.keys(filter).join(', ') || 'nothing'} (${Object.values(filter)[0]?.toString() ?? ''}) walks its index`, async () => {
    for (const cursor of CURSORS) {
      const plan = await explain((tx) =>
        listEmails.run(tx, { tenantId: 'ten_1', mode: 'live', filter, page: { limit: 20, ...cursor } }),
      );
      const text = plan.join('\n');
      const outer = plan.find((line) => /^(SEARCH|SCAN)/.test(line)) ?? '';
      assert.match(outer, walk, text);
      for (const other of others) assert.match(text, other);
      assert.doesNotMatch(text, /USE TEMP B-TREE|SCAN (emails|messages|emailTags|emailAddresses)/, text);
    }
  });
}
