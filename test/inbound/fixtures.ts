/** Adds received messages behind the back of the application. */
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../src/db/inbound-tables.ts';
import { engineKindOf } from '../../src/inbound/tasks/store.ts';
import { newId } from '../../src/system/ids.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import type { TestApp } from '../support/test-app.ts';

/** A message with a text and a file. */
export const WITH_FILE = [
  'From: Ann <ann@sender.example>',
  'To: sales@shop.example',
  'Subject: Hello',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  '',
  'Hi',
  '--b',
  'Content-Type: text/csv; name="list.csv"',
  '',
  'a,b',
  '--b--',
  '',
].join('\r\n');

type Added = {
  tenantId?: ReceivedMessageRow['tenantId'];
  text?: string;
  /** Routes that the message is for. */
  routeIds?: readonly string[];
  /** Address of every recipient. */
  address?: string;
  /** Address of each recipient, where they differ. */
  addresses?: readonly string[];
  /** Kind of the recipients. */
  kind?: 'post' | 'mailbox';
  row?: Partial<ReceivedMessageRow>;
  task?: Partial<ReceivedTaskRow>;
};

/** Adds a message whose posts were made, and returns its id. */
export async function addReceived(
  test: TestApp,
  {
    tenantId = test.tenantId,
    text = WITH_FILE,
    routeIds = [],
    address = 'Sales@shop.example',
    addresses = [],
    kind = 'post',
    row,
    task,
  }: Added = {},
): Promise<ReceivedMessageRow['id']> {
  const { app } = test;
  const createdAt = app.clock.now();
  const id = newId('in', createdAt);
  const bytes = Buffer.from(text);
  const blob = await app.blobs.prepare([bytes]);
  insertRow(test, 'blobs', blob);
  insertRow(test, 'receivedMessages', {
    ...{ id, tenantId, blobId: blob.id, sizeBytes: bytes.length, sender: 'ann@sender.example' },
    ...{ remoteAddress: '192.0.2.1', helo: 'mail.sender.example', tls: null, requireTls: 0, utf8: 0 },
    ...{ trace: 'Return-Path: <ann@sender.example>\r\n', auth: null, spamScore: null, spamReasons: '[]' },
    ...{ flagged: 0, headerFrom: 'ann@sender.example', subject: 'Hello', messageId: null, emailId: null },
    ...{ createdAt, endedAt: createdAt, contentDeletedAt: null, isForRoute: kind === 'post' ? 1 : 0, ...row },
  });
  for (const [position, targetId] of (routeIds.length > 0 ? routeIds : ['rt_none']).entries()) {
    const common = { messageId: id, position, kind, targetId };
    insertRow(test, 'receivedRecipients', { ...common, address: addresses[position] ?? address });
    if (routeIds.length === 0) continue;
    addTaskRow(test, {
      ...{ ...common, id: newId('tsk', createdAt), tenantId, queue: targetId, state: 'done', attempts: 1 },
      ...{ dueAt: null, runId: null, responseStatus: 200, responseTimeMs: 12, responseBody: 'ok' },
      ...{ error: null, createdAt, endedAt: createdAt, ...task },
    });
  }
  return id;
}

/** Stores a task. One that is due or runs is a task of the engine too. */
export function addTaskRow(test: TestApp, row: ReceivedTaskRow): void {
  const { id: reference, queue, tenantId, attempts, dueAt, runId } = row;
  insertRow(test, 'receivedTasks', { ...row, dueAt: null, runId: null });
  if (dueAt === null && runId === null) return;
  const queueKey = queue || 'installation';
  insertRow(test, 'tasks', {
    ...{ kind: engineKindOf(row.kind), reference, queueKey, tenantId },
    ...{ dueAt, runId, attempts, error: null },
  });
}
