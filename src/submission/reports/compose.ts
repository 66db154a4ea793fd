/** Writes the report about the recipients of a message to its writer (RFC 3464). */
import type { RecipientRow } from '../../db/tables.ts';
import { parseMailbox } from '../../mail/address.ts';
import { composeReport, type ReportedRecipient } from '../../mail/dsn/write.ts';
import { dateField, formatDate } from '../../mail/message/headers.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import { envelopeIdOf, originalRecipientOf } from '../../mail/smtp/dsn-parameters.ts';
import type { SpooledMessage } from '../../queue/store.ts';
import type { PlannedReport } from './plan.ts';

type Composition = {
  hostname: string;
  /** Message id of the report, without its angle brackets. */
  messageId: string;
  message: SpooledMessage;
  action: PlannedReport['action'];
  recipients: readonly RecipientRow[];
  /** The returned part of the message: its header, and all of it where the writer gets that. */
  returned: { header: Uint8Array; message?: Uint8Array | undefined };
  now: number;
};

const SUBJECTS: Readonly<Record<PlannedReport['action'], string>> = {
  failed: 'Your message could not be delivered',
  delayed: 'Your message is delayed',
  delivered: 'Your message was delivered',
};

/** Statuses that stand for a reply without one (RFC 3463: X.0.0). */
const DEFAULT_STATUS: Readonly<Record<PlannedReport['action'], string>> = {
  failed: '5.0.0',
  delayed: '4.0.0',
  delivered: '2.0.0',
};

/** Returns the report as it is stored in the mailbox of the writer. */
export function composeSubmissionReport(composition: Composition): Buffer {
  const { hostname, messageId, message, action, recipients, returned, now } = composition;
  const { bytes } = composeReport({
    messageId,
    hostname,
    to: parseMailbox(message.returnPath ?? '') ?? postmasterOf(hostname),
    subject: SUBJECTS[action],
    text: textFor(composition),
    envelopeId: envelopeIdOf(message.dsn),
    arrivedAt: message.createdAt,
    recipients: recipients.map((recipient) => describe(recipient, composition)),
    isUtf8: message.utf8 === 1,
    ...returned,
  });
  return Buffer.concat([Buffer.from(dateField(now), 'latin1'), bytes]);
}

function describe(
  { address, dsn, mx, enhancedCode, smtpCode, diagnostic }: RecipientRow,
  { hostname, action, message }: Pick<Composition, 'hostname' | 'action' | 'message'>,
): ReportedRecipient {
  const isHere = mx === hostname || mx === null;
  const type = smtpCode === null ? 'x-postrider' : 'smtp';
  return {
    address,
    original: originalRecipientOf(dsn),
    action: action === 'delivered' && !isHere ? 'relayed' : action,
    status: statusFor(action, enhancedCode),
    remoteHost: smtpCode === null ? undefined : (mx ?? undefined),
    diagnostic: diagnostic === null ? undefined : `${type}; ${diagnostic}`,
    triedUntil: action === 'delayed' ? message.expiresAt : undefined,
  };
}

/** The class of a status says what happened, whatever the last server said. */
function statusFor(action: PlannedReport['action'], enhancedCode: string | null): string {
  const [, detail] = /^[245](\.\d{1,3}\.\d{1,3})$/.exec(enhancedCode ?? '') ?? [];
  const fallback = DEFAULT_STATUS[action];
  return detail === undefined ? fallback : `${fallback[0]}${detail}`;
}

function textFor({ hostname, action, message, recipients, returned }: Composition): string {
  return [
    `This is the mail server ${hostname}.`,
    '',
    ...introduction(action, message),
    '',
    ...recipients.flatMap((recipient) => linesFor(action, recipient)),
    returned.message ? 'Your message follows.' : 'The header of your message follows.',
    '',
  ].join('\n');
}

function introduction(action: PlannedReport['action'], { expiresAt }: SpooledMessage): string[] {
  switch (action) {
    case 'failed':
      return ['Your message could not be delivered to the following addresses. It is not tried again.'];
    case 'delayed':
      return [
        'Your message could not be delivered to the following addresses yet.',
        `It is tried until ${formatDate(expiresAt)}. You need not send it again.`,
      ];
    case 'delivered':
      return ['Your message has reached the mail servers of the following addresses.'];
  }
}

function linesFor(
  action: PlannedReport['action'],
  { address, mx, smtpCode, diagnostic }: RecipientRow,
): string[] {
  if (action === 'delivered' || diagnostic === null) return [`<${address}>`, ''];
  const speaker = smtpCode === null || mx === null ? 'The reason' : `The server ${mx} said`;
  return [`<${address}>`, `    ${speaker}: ${diagnostic}`, ''];
}
