/** Mail in the spool, as rows alone: what a domain owes, without anybody having sent it. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { BlobRow, MessageRow, RecipientRow } from '../../src/db/tables.ts';
import type { Domain } from '../../src/domains/store.ts';
import { newId } from '../../src/system/ids.ts';
import { messageRow } from '../support/message-row.ts';

export type Mail = Pick<Domain, 'tenantId'> & {
  domainId: Domain['id'];
  /** When it was accepted. */
  now: number;
  datedAt: number;
  status?: MessageRow['status'];
  state?: RecipientRow['state'];
  dueAt?: number | null;
  attempts?: number;
};

/** Another connection than the daemon's, as another process would have: one message to one recipient. */
export function scheduleMail(dataDir: string, mail: Mail): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  const blobId = newId('blob', mail.now);
  const messageId = newId('em', mail.now);
  const { tenantId, now } = mail;
  const blob: BlobRow = {
    ...{ id: blobId, sha256: '', sizeBytes: 0, eightBit: 0, data: Buffer.alloc(0), createdAt: now },
  };
  const message = messageRow({
    ...{ id: messageId, tenantId, mode: 'live', status: mail.status ?? 'queued' },
    ...{ sender: 'a@b.example', domainId: mail.domainId, blobId, datedAt: mail.datedAt },
    ...{ createdAt: now, expiresAt: mail.datedAt + 1, lastEventAt: now },
  });
  const recipient: RecipientRow = {
    ...{
      id: newId('rcp', now),
      messageId,
      tenantId,
      mode: 'live',
      field: 'to',
      position: 0,
      address: 'c@d.example',
    },
    ...{ domain: 'd.example', queue: 'd.example', state: mail.state ?? 'ready' },
    ...{ dueAt: mail.dueAt === undefined ? mail.datedAt : mail.dueAt, attempts: mail.attempts ?? 0 },
    ...{ interruptedAttempts: 0, runId: null, delayNoticeAt: null, smtpCode: null, enhancedCode: null },
    ...{ diagnostic: null, mx: null, tls: null, lastEventAt: now, dsn: null, class: null, advice: null },
    holdReason: null,
  };
  try {
    for (const [table, row] of Object.entries({ blobs: blob, messages: message, recipients: recipient })) {
      const columns = Object.keys(row);
      const values = columns.map((column) => `@${column}`);
      database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${values})`).run(row);
    }
  } finally {
    database.close();
  }
}
