/** Builds the rows of one copy of a broadcast. It writes nothing, so a copy that cannot be made leaves nothing behind. */

import type { BroadcastRecipientRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { ContactRow } from '../db/marketing-tables.ts';
import type { MessageRow } from '../db/tables.ts';
import { readMailbox } from '../emails/request/addresses.ts';
import { asLine } from '../emails/request/line.ts';
import { addressKey, isAsciiAddress } from '../mail/address.ts';
import { COMPOSER_VERSION, writeMessageFields } from '../mail/message/compose.ts';
import { CONTACT_DELETED } from '../queue/exclusions.ts';
import { newMessage } from '../queue/new-message.ts';
import type { NewRecipient } from '../queue/store.ts';
import { AppError, errorMessage } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import {
  MAX_ESCAPED_CHARACTERS,
  MAX_RENDERED_CHARACTERS,
  MAX_SUBJECT_CHARACTERS,
  renderTemplate,
  type VariableValue,
} from '../templates/render.ts';
import type { Frozen } from './frozen.ts';

export type Copy = { message: MessageRow; recipient: NewRecipient; email: EmailRow };

type Failure = { state: 'failed'; reason: string };

type Building = {
  frozen: Frozen;
  contact: ContactRow | undefined;
  row: BroadcastRecipientRow;
  now: number;
  maxAgeMs: number;
};

type Values = Record<string, VariableValue>;

/** Returns the rows of a copy, or why it cannot be made. */
export function buildCopy(run: BroadcastRunRow, building: Building): Copy | Failure {
  try {
    return build(run, building);
  } catch (error) {
    // A value may make a field that no message can have; the other contacts get their copies.
    if (!(error instanceof AppError || error instanceof RangeError)) throw error;
    return { state: 'failed', reason: errorMessage(error) };
  }
}

function build(run: BroadcastRunRow, { frozen, contact, row, now, maxAgeMs }: Building): Copy | Failure {
  if (!contact) return { state: 'failed', reason: CONTACT_DELETED };
  const values = JSON.parse(row.mergeValues ?? '{}') as Values;
  if (longestTexts(frozen, values) > MAX_RENDERED_CHARACTERS)
    return { state: 'failed', reason: 'The values of the contact make the message too long' };
  const subject = asLine(renderTemplate(frozen.subject, values, { form: 'text', isMarketing: true }).text);
  if ([...subject].length > MAX_SUBJECT_CHARACTERS)
    return { state: 'failed', reason: 'The values of the contact make the subject too long' };
  const from = readMailbox('from', frozen.fromHeader);
  const to = readMailbox('to', contact.email);
  const id = newId('em', now);
  const messageId = `${id}@${from.domain}`;
  const replyTo = frozen.replyTo === null ? [] : [readMailbox('replyTo', frozen.replyTo)];
  const { headers } = frozen;
  const fields = writeMessageFields({ from, to: [to], cc: [], subject, messageId, replyTo, headers });
  const utf8 = [from, to, ...replyTo].every(({ address }) => isAsciiAddress(address)) ? 0 : 1;
  return {
    message: newMessage({
      id,
      tenantId: run.tenantId,
      mode: run.mode,
      kind: 'broadcast',
      topicId: frozen.topicId,
      sender: from.address,
      domainId: frozen.domainId,
      contentId: run.contentId,
      composer: COMPOSER_VERSION,
      fields,
      mergeValues: row.mergeValues ?? '{}',
      broadcastId: run.broadcastId,
      contactId: row.contactId,
      complaintHost: frozen.complaintHost ?? null,
      utf8,
      now,
      maxAgeMs,
    }),
    recipient: { field: 'to', address: to.address, domain: to.domain, suppressed: null },
    email: emailRow(run, { id, frozen, contact, subject, messageId, now }),
  };
}

/** Returns a number of characters that the texts cannot exceed with these values. */
function longestTexts({ uses, characters }: Frozen, values: Values): number {
  return Object.entries(uses).reduce(
    (sum, [name, times]) => sum + times * MAX_ESCAPED_CHARACTERS * String(values[name] ?? '').length,
    characters,
  );
}

type EmailInput = { id: EmailRow['id']; frozen: Frozen; contact: ContactRow } & Record<
  'subject' | 'messageId',
  string
> & { now: number };

function emailRow(
  { broadcastId, tenantId, mode }: BroadcastRunRow,
  { id, frozen, contact, subject, messageId, now }: EmailInput,
): EmailRow {
  const from = readMailbox('from', frozen.fromHeader);
  return {
    id,
    tenantId,
    mode,
    type: 'broadcast',
    broadcastId,
    subject,
    fromHeader: frozen.fromHeader,
    fromAddress: addressKey(from.address),
    fromDomain: from.domain,
    toList: JSON.stringify([contact.email]),
    ccList: '[]',
    bccList: '[]',
    replyToList: JSON.stringify(frozen.replyTo === null ? [] : [frozen.replyTo]),
    headers: '{}',
    attachments: '[]',
    tags: '{}',
    scheduledAt: null,
    missingVariables: '[]',
    templateId: frozen.templateId,
    topicId: frozen.topicId,
    rfcMessageId: messageId,
    createdAt: now,
    html: null,
    text: null,
    contentDeletedAt: null,
    apiKeyId: null,
  };
}
