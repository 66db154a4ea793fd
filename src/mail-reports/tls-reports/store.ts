/** Ends reports about TLS: what they are made of is deleted in the transaction that queues them. */
import { insertBlob } from '../../blobs/store.ts';
import { defineWrite } from '../../db/operation.ts';
import type { TlsReportRow } from '../../db/tls-policy-tables.ts';
import type { OwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { enqueue } from '../../queue/store.ts';
import { deleteTlsReport } from '../../tls-policies/store.ts';

/** Queues the report, if it goes by mail, and deletes what it was made of, in one transaction. */
export const endTlsReport = defineWrite(
  'mailReports.endTlsReport',
  async (
    tx,
    { mail, ...day }: Pick<TlsReportRow, 'day' | 'domain'> & { mail: OwnMail | undefined },
  ): Promise<void> => {
    const ended = await deleteTlsReport(tx, day);
    if (!ended || !mail) return;
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
  },
);
