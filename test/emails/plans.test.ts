/**
 * How SQLite goes about a list of emails: by which index, from which id to which, and that it never sorts a history.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmailRow } from '../../src/db/email-tables.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { PageRequest } from '../../src/db/page.ts';
import type { MessageRow } from '../../src/db/tables.ts';
import { listEmails } from '../../src/emails/list/read.ts';
import type { EmailFilter, Filters } from '../../src/emails/list/store.ts';
import { newId } from '../../src/system/ids.ts';
import { explain, inThisThread } from '../support/explain.ts';
import { storeBareDomain, storeBareEmail, storeBareKey } from './fixtures.ts';

const tag = { key: 'a', value: 'b' };
const otherTag = { key: 'a:b', value: 'c' };

/** The filter, and the indexes that are walked for it: what stands before the bounds of the page. */
const PLANS: readonly [filter: EmailFilter, id: string, walks: readonly string[]][] = [
  [{}, 'id', ['emails USING COVERING INDEX emailsByTenant (tenantId=? AND mode=?']],
  [
    { status: 'bounced' },
    'id',
    ['messages USING COVERING INDEX messagesByStatus (tenantId=? AND mode=? AND status=?'],
  ],
  [
    { fromAddress: 'a@b.example' },
    'id',
    ['emails USING COVERING INDEX emailsByFrom (tenantId=? AND mode=? AND fromAddress=?'],
  ],
  [
    { fromDomain: 'b.example' },
    'id',
    ['emails USING COVERING INDEX emailsByFromDomain (tenantId=? AND mode=? AND fromDomain=?'],
  ],
  [
    { to: 'a@b.example' },
    'emailId',
    ['emailAddresses USING PRIMARY KEY (tenantId=? AND mode=? AND address=?'],
  ],
  ...[[tag], [tag, otherTag]].map((tags): (typeof PLANS)[number] => [
    { tags },
    'emailId',
    ['emailTags USING PRIMARY KEY (tenantId=? AND mode=? AND key=? AND value=?'],
  ]),
  [
    { recipientStatus: 'queued' },
    'messageId',
    ['recipients USING INDEX recipientsUntried (tenantId=? AND mode=?'],
  ],
  [
    { recipientStatus: 'deferred' },
    'messageId',
    [
      'recipients USING INDEX recipientsByState (tenantId=? AND mode=? AND state=?',
      'recipients USING INDEX recipientsPutBack (tenantId=? AND mode=?',
    ],
  ],
  ...(['bounced', 'complained', 'suppressed', 'canceled'] as const).map(
    (recipientStatus): (typeof PLANS)[number] => [
      { recipientStatus },
      'messageId',
      ['recipients USING INDEX recipientsByState (tenantId=? AND mode=? AND state=?'],
    ],
  ),
  [
    { recipientStatus: 'delivered' },
    'id',
    ['messages USING COVERING INDEX messagesByStatus (tenantId=? AND mode=? AND status=?'],
  ],
];

/** With the bounds that are searched by, the column of the id for `#`. */
const PAGES: readonly [PageRequest, bounds: string][] = [
  [{ limit: 20 }, ''],
  [{ limit: 20, startingAfter: 'em_5' }, ' AND #<?'],
  [{ limit: 20, endingBefore: 'em_5' }, ' AND #>?'],
  [{ limit: 20, from: 'em_2', until: 'em_8' }, ' AND #>? AND #<?'],
  [{ limit: 20, from: 'em_2', until: 'em_8', startingAfter: 'em_5' }, ' AND #>? AND #<?'],
  [{ limit: 20, from: 'em_2', until: 'em_8', endingBefore: 'em_5' }, ' AND #>? AND #<?'],
];

const planOf = (
  filter: EmailFilter,
  page: PageRequest,
  prepare: (tx: Tx) => Promise<void> = async () => {},
) =>
  explain(async (tx) => {
    await prepare(tx);
    await list(tx, { domainId: null, filter }, page);
  });

const list = (tx: Tx, about: Pick<Filters, 'domainId' | 'filter'>, page: PageRequest) =>
  listEmails({ db: inThisThread(tx) }, { tenantId: 'ten_1', mode: 'live', ...about }, page);

/** What is not walked is looked up for one email at a time. */
const LOOKED_UP = /^SEARCH \S+ (EXISTS )?USING .*\((id|messageId)=\?|emailId=\?\)$|position<\?\)$/;

for (const [filter, id, walks] of PLANS) {
  const name =
    Object.entries(filter).map(([key, value]) => `${key} ${JSON.stringify(value)}`)[0] ?? 'nothing';
  test(`a list by ${name} walks its index within the page alone`, async () => {
    for (const [page, bounds] of PAGES) {
      const plan = await planOf(filter, page);
      const text = plan.join('\n');
      const walked = plan.filter((line) => /^(SEARCH|SCAN)/.test(line) && !LOOKED_UP.test(line));
      const expected = walks.map((walk) => `SEARCH ${walk}${bounds.replaceAll('#', id)})`);
      assert.deepEqual([...new Set(walked)], expected, text);
      assert.doesNotMatch(text, /USE TEMP B-TREE/, text);
    }
  });
}

test('a list of the mail of one domain walks the index of its name, and sorts nothing', async () => {
  for (const [page, bounds] of PAGES) {
    const plan = await explain(async (tx) => {
      await storeBareDomain(tx, { id: 'dom_1', tenantId: 'ten_1' });
      await list(tx, { domainId: 'dom_1', filter: {} }, page);
    });
    const text = plan.join('\n');
    const walked = plan.filter((line) => /^(SEARCH|SCAN)/.test(line) && !LOOKED_UP.test(line));
    const index = 'emails USING COVERING INDEX emailsByFromDomain (tenantId=? AND mode=? AND fromDomain=?';
    const walk = `SEARCH ${index}${bounds.replaceAll('#', 'id')})`;
    assert.deepEqual(
      [...new Set(walked)].filter((line) => !/^SCAN (?:candidates|CONSTANT ROW)$/.test(line)),
      [walk],
      text,
    );
    assert.doesNotMatch(text, /USE TEMP B-TREE/, text);
  }
});

test('a list of the mail of one key walks the index of keys, and sorts nothing', async () => {
  for (const [page, bounds] of PAGES) {
    const plan = await planOf({ apiKeyId: 'key_1' }, page, (tx) =>
      storeBareKey(tx, { ...owner, id: 'key_1' }),
    );
    const text = plan.join('\n');
    const walked = plan.filter((line) => /^(SEARCH|SCAN)/.test(line) && !LOOKED_UP.test(line));
    const walk = `SEARCH emails USING COVERING INDEX emailsByApiKey (apiKeyId=?${bounds.replaceAll('#', 'id')})`;
    assert.ok(walked.includes(walk), text);
    assert.doesNotMatch(text, /USE TEMP B-TREE|emailsByTenant/, text);
  }
});

test('a list of mail in flight reads no other recipients', async () => {
  for (const [page] of PAGES) {
    const plan = await planOf({ recipientStatus: 'sent' }, page);
    const walked = plan.filter((line) => /^(SEARCH|SCAN)/.test(line) && !LOOKED_UP.test(line));
    assert.deepEqual(walked, ['SCAN recipients USING INDEX recipientsInFlight']);
  }
});

const owner = { tenantId: 'ten_1', mode: 'live' } as const;

test('a list with several filters walks the rarest one and looks up the others', async () => {
  /** Three emails from each address, of which one was delivered: fewer than are from there, and the other way round. */
  const fill =
    (delivered: number, ours: number) =>
    async (tx: Tx): Promise<void> => {
      for (let index = 0; index < 5; index++) {
        const id: EmailRow['id'] = `em_${index}`;
        const status: MessageRow['status'] = index < delivered ? 'delivered' : 'queued';
        const fromAddress = index < ours ? 'a@b.example' : 'c@d.example';
        await storeBareEmail(tx, { ...owner, id, status, fromAddress });
      }
    };
  const filter = { status: 'delivered', fromAddress: 'a@b.example' } as const;
  const last = (plan: string[]) => plan.filter((line) => !/^(SCAN|CO-ROUTINE) /.test(line)).slice(-3);
  const byStatus = last(await planOf(filter, { limit: 20 }, fill(1, 4)));
  assert.match(byStatus[0] ?? '', /messagesByStatus/, byStatus.join('\n'));
  const bySender = last(await planOf(filter, { limit: 20 }, fill(4, 1)));
  assert.match(bySender[0] ?? '', /emailsByFrom /, bySender.join('\n'));
});

const WALK = /messagesByStatus \(tenantId=\? AND mode=\? AND status=\? AND id>\? AND id<\?\)/;

for (const cursor of [{ startingAfter: newId('em', 9) }, { endingBefore: newId('em', 0) }]) {
  test(`a list by the status of recipients walks its own index with ${Object.keys(cursor)}`, async () => {
    const page = { limit: 1, ...cursor };
    const plan = await explain(async (tx) => {
      for (const at of [1, 2, 3])
        await storeBareEmail(tx, { ...owner, id: newId('em', at), status: 'delivered' });
      await list(tx, { domainId: null, filter: { recipientStatus: 'delivered' } }, page);
    });
    assert.ok(
      plan.some((line) => WALK.test(line)),
      plan.join('\n'),
    );
  });
}
