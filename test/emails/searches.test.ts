/** A list that merges walks looks, along the second, no further than the first has filled the page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/operation.ts';
import { listEmails } from '../../src/emails/list/read.ts';
import { newId } from '../../src/system/ids.ts';
import { explain, inThisThread } from '../support/explain.ts';

const tenantId = newId('ten', 0);
const owner = { tenantId, mode: 'live' } as const;

async function addDelivered(tx: Tx, at: number): Promise<void> {
  const id = newId('em', at);
  const sent = { createdAt: at, rfcMessageId: '<a@b.example>', missingVariables: '[]', tags: '{}' };
  const from = { fromHeader: 'a@b.example', fromAddress: 'a@b.example', fromDomain: 'b.example' };
  const lists = { toList: '[]', ccList: '[]', bccList: '[]', replyToList: '[]' };
  const content = { subject: 'a', headers: '{}', attachments: '[]', html: null, text: null };
  const origin = { scheduledAt: null, templateId: null, topicId: null, broadcastId: null };
  const message = { ...owner, id, kind: 'transactional', status: 'delivered', sender: '' } as const;
  const spooled = {
    domainId: null,
    blobId: 'blob_1',
    headerBytes: 0,
    bodyHash: '',
    requireTls: 0,
    mailboxId: null,
    dsn: null,
    utf8: 0,
  } as const;
  const times = { datedAt: at, signature: null, createdAt: at, expiresAt: at, lastEventAt: at };
  await tx
    .insertInto('messages')
    .values({ ...message, ...spooled, ...times })
    .execute();
  const email = { ...owner, id, type: 'transactional', ...from, ...lists, ...content, ...origin } as const;
  await tx
    .insertInto('emails')
    .values({ ...email, ...sent })
    .execute();
}

const WALK = /messagesByStatus \(tenantId=\? AND mode=\? AND status=\? AND id>\? AND id<\?\)/;

for (const cursor of [{ startingAfter: newId('em', 9) }, { endingBefore: newId('em', 0) }]) {
  test(`a list by the status of recipients walks its own index with ${Object.keys(cursor)}`, async () => {
    const page = { limit: 1, ...cursor };
    const plan = await explain(async (tx) => {
      for (const at of [1, 2, 3]) await addDelivered(tx, at);
      await listEmails(
        { db: inThisThread(tx) },
        { ...owner, domainId: null, filter: { recipientStatus: 'delivered' } },
        page,
      );
    });
    assert.ok(
      plan.some((line) => WALK.test(line)),
      plan.join('\n'),
    );
  });
}
