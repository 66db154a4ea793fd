/** Composes the notifications that this installation sends to the senders of mail that it has received (RFC 3461, RFC 3464). */
import { formatDate } from '../message/headers.ts';
import { composeReport, type DeliveryReport, type ReportedRecipient } from './write.ts';

export type SenderReport = Omit<DeliveryReport, 'subject' | 'text' | 'recipients'> & {
  action: ReportedRecipient['action'];
  /** Enhanced status code (RFC 3463). */
  status: string;
  /** The recipients that the sender named, and the addresses that it wrote first (RFC 3461 section 4.2); at least one. */
  recipients: readonly Pick<ReportedRecipient, 'address' | 'original'>[];
  /** Time until which a delayed message is tried, in Unix milliseconds; undefined for one that is tried for as long as it takes. */
  triedUntil?: number | undefined;
};

const SUBJECTS: Readonly<Record<SenderReport['action'], string>> = {
  failed: 'Your message could not be delivered',
  delayed: 'Your message is delayed',
  delivered: 'Your message was delivered',
  relayed: 'Your message was sent on',
  expanded: 'Your message was sent on to several addresses',
};

/**
 * Returns the notification, which says nothing about where the recipient's mail goes, nor what a server there has said. It has no `Date`; the size of
 * its header includes the empty line.
 */
export function composeSenderReport({ action, status, recipients, triedUntil, ...report }: SenderReport): {
  bytes: Buffer;
  headerBytes: number;
} {
  const shown = { action, status, triedUntil };
  return composeReport({
    ...report,
    subject: SUBJECTS[action],
    text: [
      `This is the mail server ${report.hostname}.`,
      '',
      ...textOf({ ...shown, to: recipients.map(({ address }) => `<${address}>`).join(', ') }),
      '',
      report.message ? 'Your message follows.' : 'The header of your message follows.',
      '',
    ].join('\n'),
    recipients: recipients.map(({ address, original }) => ({ address, original, ...shown })),
  });
}

type Shown = Pick<SenderReport, 'action' | 'status' | 'triedUntil'> & { to: string };

function textOf({ action, status, triedUntil, to }: Shown): string[] {
  switch (action) {
    case 'failed':
      return [
        `Your message to ${to} was accepted, but it could not be delivered.`,
        `The status code is ${status}. Nobody tries to deliver the message any more.`,
      ];
    case 'delayed': {
      const next =
        triedUntil === undefined ? 'It is tried again' : `It is tried until ${formatDate(triedUntil)}`;
      return [
        `Your message to ${to} was accepted, but it could not be delivered yet.`,
        `The status code is ${status}. ${next}. You need not send it again.`,
      ];
    }
    case 'delivered':
      return [`Your message to ${to} was delivered.`];
    case 'relayed':
      return [
        `Your message to ${to} was sent on to another server.`,
        'No other report says that it was delivered there.',
      ];
    case 'expanded':
      return [
        `Your message to ${to} was sent on to several addresses.`,
        'No other report says that it was delivered there.',
      ];
  }
}
