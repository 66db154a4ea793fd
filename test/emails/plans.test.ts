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
import { insertEmail } from '../../src/emails/store.ts';
import { explain, inThisThread } from '../support/explain.ts';
import { messageRow } from '../support/message-row.ts';

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
      await tx.insertInto('domains').values(domain).execute();
      await list(tx, { domainId: domain.id, filter: {} }, page);
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

test('a list of mail in flight reads no other recipients', async () => {
  for (const [page] of PAGES) {
    const plan = await planOf({ recipientStatus: 'sent' }, page);
    const walked = plan.filter((line) => /^(SEARCH|SCAN)/.test(line) && !LOOKED_UP.test(line));
    assert.deepEqual(walked, ['SCAN recipients USING INDEX recipientsInFlight']);
  }
});

const domain = {
  ...({ id: 'dom_1', tenantId: 'ten_1', name: 'b.example', status: 'verified' } as const),
  ...({ productType: '', region: '', openTracking: 0, clickTracking: 0 } as const),
  ...{ selector: '', publicKey: '', privateKeySealed: '', records: '{}' },
  ...{ createdAt: 0, updatedAt: 0, checksSince: 0 },
};

const owner = { tenantId: 'ten_1', mode: 'live', createdAt: 0 } as const;
const email: Omit<EmailRow, 'id' | 'fromAddress' | 'fromDomain'> = {
  ...owner,
  type: 'transactional',
  fromHeader: '',
  toList: '[]',
  ccList: '[]',
  bccList: '[]',
  replyToList: '[]',
  subject: '',
  headers: '{}',
  attachments: '[]',
  tags: '{}',
  scheduledAt: null,
  templateId: null,
  topicId: null,
  broadcastId: null,
  missingVariables: '[]',
  rfcMessageId: '',
  html: null,
  text: null,
  contentDeletedAt: null,
};

test('a list with several filters walks the rarest one and looks up the others', async () => {
  /** Three emails from each address, of which one was delivered: fewer than are from there, and the other way round. */
  const fill =
    (delivered: number, ours: number) =>
    async (tx: Tx): Promise<void> => {
      for (let index = 0; index < 5; index++) {
        const id: EmailRow['id'] = `em_${index}`;
        const status: MessageRow['status'] = index < delivered ? 'delivered' : 'queued';
        await tx
          .insertInto('messages')
          .values(messageRow({ ...owner, id, status, blobId: 'blob_1' }))
          .execute();
        const fromAddress = index < ours ? 'a@b.example' : 'c@d.example';
        const row = { ...email, id, fromAddress, fromDomain: 'b.example' };
        await insertEmail(tx, row, { tags: [], addresses: [] });
      }
    };
  const filter = { status: 'delivered', fromAddress: 'a@b.example' } as const;
  const last = (plan: string[]) => plan.filter((line) => !/^(SCAN|CO-ROUTINE) /.test(line)).slice(-3);
  const byStatus = last(await planOf(filter, { limit: 20 }, fill(1, 4)));
  assert.match(byStatus[0] ?? '', /messagesByStatus/, byStatus.join('\n'));
  const bySender = last(await planOf(filter, { limit: 20 }, fill(4, 1)));
  assert.match(bySender[0] ?? '', /emailsByFrom /, bySender.join('\n'));
});
