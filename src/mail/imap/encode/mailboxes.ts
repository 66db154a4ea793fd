/** Writes LIST, LSUB and STATUS responses (RFC 9051 sections 7.3.1 and 7.3.2). */
import { SEPARATOR } from '../list-pattern.ts';
import type { StatusItem, StatusValues } from '../session.ts';
import { writeAstring } from './astring.ts';
import { encodeMailboxName } from './mailbox-name.ts';
import type { TextForm } from './strings.ts';

type ListedMailbox = {
  response: 'LIST' | 'LSUB';
  mailbox: string;
  /** Attributes such as `\HasNoChildren`, in this order. */
  attributes: readonly string[];
  /** Criteria of RECURSIVEMATCH that a child fulfils, such as SUBSCRIBED (RFC 5258 section 3.5). */
  childInfo?: readonly string[];
  /** Name that the mailbox had before it was renamed (RFC 5465 section 5.4). */
  oldName?: string | undefined;
};

/** Returns the response for one mailbox, with its CRLF. */
export function writeListed(listed: ListedMailbox, form: TextForm): string {
  const { response, mailbox, attributes, childInfo = [], oldName } = listed;
  const items = [
    ...(childInfo.length > 0 ? [`CHILDINFO (${childInfo.map((name) => `"${name}"`).join(' ')})`] : []),
    ...(oldName === undefined ? [] : [`"OLDNAME" (${writeMailbox(oldName, form)})`]),
  ];
  const extended = items.length > 0 ? ` (${items.join(' ')})` : '';
  const name = writeMailbox(mailbox, form);
  return `* ${response} (${attributes.join(' ')}) "${SEPARATOR}" ${name}${extended}\r\n`;
}

type MailboxStatus = { mailbox: string; items: readonly StatusItem[]; values: StatusValues };

/** Returns the response with the items in the order in which they were asked for, with its CRLF. */
export function writeStatus({ mailbox, items, values }: MailboxStatus, form: TextForm): string {
  const pairs = items.flatMap((item) => {
    const value = values[item];
    if (value === undefined) return [];
    return `${item} ${typeof value === 'string' ? `(${value})` : value}`;
  });
  return `* STATUS ${writeMailbox(mailbox, form)} (${pairs.join(' ')})\r\n`;
}

function writeMailbox(mailbox: string, form: TextForm): string {
  return writeAstring(encodeMailboxName(mailbox, form), form);
}
