/** Writes notifications about the delivery of a message (RFC 3464, RFC 6522, RFC 6533). */
import { isAscii } from 'node:buffer';
import type { Mailbox } from '../address.ts';
import { writeMessageFields } from '../message/compose.ts';
import {
  chooseBoundary,
  type LeafEntity,
  leafEntity,
  multipart,
  textEntity,
  wholeBody,
} from '../message/entity.ts';
import { formatDate, structuredField, utf8Field } from '../message/headers.ts';
import { postmasterOf } from '../postmaster.ts';
import { formatTypedAddress, formatUtf8Address, upConverted } from './notice.ts';

/** Maximum length of what another server has written. Replies are cut before. */
const MAX_VALUE_CHARACTERS = 2_000;

/**
 * The fate of a recipient (RFC 3464 section 2.3.3). `relayed`: a server has the message that says nothing about what becomes of it; `expanded`:
 * the message was sent on to several addresses.
 */
type Action = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export type ReportedRecipient = {
  address: string;
  /** Address that the sender wrote first, with its type (RFC 3461 section 4.2); undefined when it is not known. */
  original?: string | undefined;
  action: Action;
  /** Enhanced status code (RFC 3463). */
  status: string;
  /** Host name of the server that answered; undefined when none did, or when it is not told. */
  remoteHost?: string | undefined;
  /** Answer of that server, or a description of the failure, with its type, such as `smtp; 550 5.1.1 Unknown user`. */
  diagnostic?: string | undefined;
  /** Time until which the message is tried, in Unix milliseconds. */
  triedUntil?: number | undefined;
};

export type DeliveryReport = {
  /** Message id of the notification, without its angle brackets. */
  messageId: string;
  /** Host name of the server that reports, by its postmaster. */
  hostname: string;
  /** The sender of the message. */
  to: Mailbox;
  subject: string;
  /** The notification as people read it. */
  text: string;
  /** Name that the sender gave the message (RFC 3461 section 4.4). */
  envelopeId?: string | undefined;
  /** Time at which the message came, in Unix milliseconds. */
  arrivedAt: number;
  recipients: readonly ReportedRecipient[];
  /** Header of the message, in octets as they came. */
  header: Uint8Array;
  /**
   * The whole message, which the notification returns in place of the header. Its lines end in CRLF. A message with REQUIRETLS is never
   * returned (RFC 8689 section 5).
   */
  message?: Uint8Array | undefined;
  /** True when the sender reads notifications in UTF-8, because the message came with SMTPUTF8 (RFC 6533 section 4). */
  isUtf8?: boolean;
};

/**
 * Returns the notification without `Date`, and the size of its header with the empty line. All of it is in ASCII, except a sender in UTF-8
 * in `To`, and a whole message that is returned. It is sent with the null sender.
 */
export function composeReport(report: DeliveryReport): { bytes: Buffer; headerBytes: number } {
  const { messageId, hostname, to, subject, isUtf8 = false } = report;
  const fields = writeMessageFields({
    from: postmasterOf(hostname),
    to: [to],
    cc: [],
    replyTo: [],
    subject,
    // A program wrote it because of a message (RFC 3834 section 5).
    headers: [{ name: 'Auto-Submitted', value: 'auto-replied' }],
    messageId,
  });
  const parts = [
    textEntity('plain', report.text),
    leafEntity(isUtf8 ? 'message/global-delivery-status' : 'message/delivery-status', statusOf(report)),
    returnedEntity(report),
  ];
  const boundary = chooseBoundary(messageId, parts);
  const parameters = ['report-type=delivery-status'];
  const body = multipart(parts, { subtype: 'report', parameters, boundary });
  const encoding = report.message && !isAscii(report.message) ? EIGHT_BIT : '';
  const head = Buffer.from(`${fields}${body.fields}${encoding}\r\n`);
  return { bytes: Buffer.concat([head, ...wholeBody(body)]), headerBytes: head.length };
}

/** The first group is about the message, and each other one about a recipient (RFC 3464 section 2.1). */
function statusOf({ hostname, envelopeId, arrivedAt, recipients, isUtf8 = false }: DeliveryReport): string {
  const message =
    optionalField('Original-Envelope-Id', envelopeId) +
    structuredField('Reporting-MTA', `dns; ${hostname}`) +
    structuredField('Arrival-Date', formatDate(arrivedAt));
  return [message, ...recipients.map((one) => addressesOf(one, isUtf8) + recipientStatus(one))].join('\r\n');
}

/** Returns the fields with addresses. Only a notification in UTF-8 has them as they are (RFC 6533 section 3). */
function addressesOf({ address, original }: ReportedRecipient, isUtf8: boolean): string {
  if (!isUtf8)
    return (
      optionalField('Original-Recipient', original) +
      structuredField('Final-Recipient', formatTypedAddress(address))
    );
  const first = original === undefined ? '' : utf8Field('Original-Recipient', upConverted(original));
  return first + utf8Field('Final-Recipient', formatUtf8Address(address));
}

function recipientStatus({ action, status, remoteHost, diagnostic, triedUntil }: ReportedRecipient): string {
  return (
    structuredField('Action', action) +
    structuredField('Status', status) +
    optionalField('Remote-MTA', remoteHost && `dns; ${remoteHost}`) +
    optionalField('Diagnostic-Code', diagnostic) +
    optionalField('Will-Retry-Until', triedUntil === undefined ? undefined : formatDate(triedUntil))
  );
}

/** Formats text that another server has written. It may have any characters, and words that are too long for a line. */
function optionalField(name: string, value: string | undefined): string {
  if (value === undefined || value === '') return '';
  const words =
    value
      .replace(/[^ -~]+/g, '?')
      .slice(0, MAX_VALUE_CHARACTERS)
      .match(/\S{1,200}/g) ?? [];
  return structuredField(name, words.join(' '));
}

const EIGHT_BIT = 'Content-Transfer-Encoding: 8bit\r\n';

/** Returns the last part of a notification: the whole message, or its header. */
function returnedEntity({ message, header }: DeliveryReport): LeafEntity {
  if (!message) return headerEntity(header);
  // A message inside another one keeps its octets: the first type may not be encoded.
  const type = isAscii(header) ? 'message/rfc822' : 'message/global';
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  return {
    fields: structuredField('Content-Type', type) + (isAscii(message) ? '' : EIGHT_BIT),
    body: () => [bytes],
    holds: (boundary) => bytes.includes(boundary),
  };
}

/** A header in UTF-8 has a type of its own, which may have any encoding (RFC 6533 section 4.3). Octets that are none are replaced. */
function headerEntity(header: Uint8Array) {
  const text = Buffer.from(header).toString('utf8');
  return leafEntity(/[\u0080-\uffff]/.test(text) ? 'message/global-headers' : 'text/rfc822-headers', text);
}
