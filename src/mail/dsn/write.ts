/** Writes the notification that a message could not be delivered (RFC 3464, RFC 6522, RFC 6533). */
import type { Mailbox } from '../address.ts';
import { chooseBoundary, leafEntity, multipart, textEntity, wholeBody } from '../message/entity.ts';
import { formatDate, structuredField } from '../message/headers.ts';
import { writeMessageFields } from '../message/message-fields.ts';
import { formatTypedAddress } from './address.ts';

export type FailureReport = {
  /** Message id of the notification, without its angle brackets. */
  messageId: string;
  /** Host name of the server that has given up. */
  hostname: string;
  from: Mailbox;
  /** The sender of the message. */
  to: Mailbox;
  /** The recipient that the sender named. */
  recipient: string;
  /** Enhanced status code of the failure (RFC 3463). */
  status: string;
  /** Time at which the message came, in Unix milliseconds. */
  arrivedAt: number;
  /** Header of the message, in octets as they came. */
  header: Uint8Array;
};

/**
 * Returns the notification without `Date`, and the size of its header with the empty line. It returns no more than the header of the
 * message (RFC 8689 section 5). All of it is in ASCII. It is sent with the null sender.
 */
export function composeFailureReport(report: FailureReport): { bytes: Buffer; headerBytes: number } {
  const { messageId, from, to, header } = report;
  const fields = writeMessageFields({
    from,
    to: [to],
    cc: [],
    replyTo: [],
    subject: 'Your message could not be delivered',
    // A program wrote it because of a message (RFC 3834 section 5).
    headers: [{ name: 'Auto-Submitted', value: 'auto-replied' }],
    messageId,
  });
  const parts = [
    textEntity('plain', textFor(report)),
    leafEntity('message/delivery-status', statusOf(report)),
    headerEntity(header),
  ];
  const boundary = chooseBoundary(messageId, parts);
  const parameters = ['report-type=delivery-status'];
  const body = multipart(parts, { subtype: 'report', parameters, boundary });
  const head = Buffer.from(`${fields}${body.fields}\r\n`, 'latin1');
  return { bytes: Buffer.concat([head, ...wholeBody(body)]), headerBytes: head.length };
}

function textFor({ hostname, recipient, status }: FailureReport): string {
  return [
    `This is the mail server ${hostname}.`,
    '',
    `Your message to <${recipient}> was accepted, but it could not be delivered.`,
    `The status code is ${status}. Nobody tries to deliver the message any more.`,
    '',
    'The header of your message follows.',
    '',
  ].join('\n');
}

/** The first group is about the message, the second one about the recipient (RFC 3464 section 2.1). */
function statusOf({ hostname, recipient, status, arrivedAt }: FailureReport): string {
  return (
    structuredField('Reporting-MTA', `dns; ${hostname}`) +
    structuredField('Arrival-Date', formatDate(arrivedAt)) +
    '\r\n' +
    structuredField('Final-Recipient', formatTypedAddress(recipient)) +
    structuredField('Action', 'failed') +
    structuredField('Status', status)
  );
}

/** A header in UTF-8 has a type of its own, which may have any encoding (RFC 6533 section 4.3). Octets that are none are replaced. */
function headerEntity(header: Uint8Array) {
  const text = Buffer.from(header).toString('utf8');
  return leafEntity(/[\u0080-\uffff]/.test(text) ? 'message/global-headers' : 'text/rfc822-headers', text);
}
