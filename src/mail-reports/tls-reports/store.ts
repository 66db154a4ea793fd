/** Settles reports about TLS, with the transaction that queues those that go by mail. */
import { insertBlob } from '../../blobs/store.ts';
import { defineWrite } from '../../db/operation.ts';
import type { TlsReportRow } from '../../db/tls-policy-tables.ts';
import type { OwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { enqueue } from '../../queue/store.ts';
import { deleteTlsReport, type Postponement, postponeTlsReport } from '../../tls-policies/store.ts';

type Settling = Pick<TlsReportRow, 'day' | 'domain'> & {
  /** The report as mail; undefined when it does not go by mail, or has gone before. */
  mail?: OwnMail | undefined;
  /** Next attempt for the other destinations; undefined when the report has ended, and what it is made of is deleted. */
  later?: Postponement | undefined;
};

/** Queues the report, if it goes by mail, and ends it or makes it due later, in one transaction. */
export const settleTlsReport = defineWrite(
  'mailReports.settleTlsReport',
  async (tx, { mail, later, ...day }: Settling): Promise<void> => {
    const isFound = await (later ? postponeTlsReport(tx, day, later) : deleteTlsReport(tx, day));
    if (!isFound || !mail) return;
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
  },
);
