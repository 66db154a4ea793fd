/** Explains mail that came back, as it would count at the return path of an email or at an address for complaints. */
import { readFeedbackReport } from '../../mail/arf.ts';
import type { Notice } from '../../mail/dsn/notice.ts';
import { readReturnedMail } from '../../mail/dsn/read.ts';
import { explainNotice } from './notice.ts';
import { isHard, type Meaning } from './replies/meaning.ts';
import type { ReplyTable } from './replies/table.ts';

type ExplainedRecipient = Pick<Meaning, 'class' | 'suppresses' | 'row' | 'advice'> & {
  /** The address that failed; null when the bounce names none. */
  address: string | null;
  hard: boolean;
};

/** Mail without failed recipients, such as a delay, has an empty list. */
export type ExplainedMessage =
  | { recipients: ExplainedRecipient[] }
  | { autoReply: true }
  | { complaint: { type: string; recipients: readonly string[] } };

/** Explains a message, in octets as they came. */
export function explainMessage(table: ReplyTable, bytes: Uint8Array): ExplainedMessage {
  const report = readFeedbackReport(bytes);
  if (report) return { complaint: { type: report.feedbackType, recipients: report.originalRecipients } };
  const read = readReturnedMail(bytes);
  if (read.kind === 'auto-reply') return { autoReply: true };
  const failed = read.kind === 'bounce' ? read.notices.filter(({ action }) => action === 'failed') : [];
  const recipients = new Map<string | null, ExplainedRecipient>();
  for (const notice of failed) {
    const explained = explainRecipient(table, notice);
    const key = explained.address?.toLowerCase() ?? null;
    if (!recipients.has(key)) recipients.set(key, explained);
  }
  return { recipients: [...recipients.values()] };
}

function explainRecipient(table: ReplyTable, notice: Notice): ExplainedRecipient {
  const address = notice.originalRecipient ?? notice.finalRecipient;
  const domain = address?.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const { meaning } = explainNotice(table, notice, domain);
  const { class: class_, suppresses, row, advice } = meaning;
  return { address, class: class_, hard: isHard(meaning), suppresses, row, advice };
}
