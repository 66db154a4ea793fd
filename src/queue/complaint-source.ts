/**
 * Finds out which email a complaint is about. Reports hide the addresses of readers, so that only a token of ours in the message
 * that they return names the email: in its return path, in the fields of RFC 9477, or in its link to unsubscribe.
 */
import type { EmailRow } from '../db/email-tables.ts';
import type { RecipientRow } from '../db/tables.ts';
import type { Links } from '../links/links.ts';
import type { Subscription } from '../links/unsubscribe-token.ts';
import { findValue, type HeaderField } from '../mail/message/lenient-header.ts';
import { findReturnAddresses, type ReturnAddress, type ReturnAddressKey } from './return-path.ts';

/** The email that a complaint is about, and what is known about the reader. */
export type ComplaintSource = {
  emailId: EmailRow['id'];
  /** Position of the recipient, when a token names one. */
  position: RecipientRow['position'] | undefined;
  /** The reader whom the link to unsubscribe names. */
  reader: Pick<Subscription, 'tenantId' | 'address'> | undefined;
  /**
   * True when no token names the email: the complaint then counts only for the recipient whom the link names, or, without a link, whom
   * the report names.
   */
  needsReader: boolean;
};

type Tokens = { returnAddressKey: ReturnAddressKey; links: Links };

/** Matches a token in a link to unsubscribe (links/links.ts). */
const UNSUBSCRIBE_TOKEN = /\/u\/([A-Za-z0-9_-]{40,600})/;
/** Matches the Message-ID of an email (RFC 5322 section 3.6.4). */
const MESSAGE_ID = /<(em_[0-9a-hjkmnp-tv-z]{26})@/;

/** The fields and the readers that a complaint has. */
type ComplaintContent = {
  /** The fields of the report and of the message. */
  fields: readonly HeaderField[];
  /** Addresses of the readers who complain, when the report names them. */
  originalRecipients: readonly string[];
};

/**
 * Returns the email of a complaint, or undefined when nothing authentic names one. At an address that is registered with a provider,
 * which is a secret of both, the Message-ID suffices when the report names its reader.
 *
 * @param address the address that the complaint came to, unless it is one that is registered with a provider
 */
export function findComplaintSource(
  { returnAddressKey, links }: Tokens,
  address: Extract<ReturnAddress, { kind: 'complaint' }> | undefined,
  { fields, originalRecipients }: ComplaintContent,
): ComplaintSource | undefined {
  const reader = findReader(links, fields);
  if (address) return sourceOf(address, reader);
  const found = findReturnAddresses(
    returnAddressKey,
    fields.map(({ value }) => value),
  );
  // An address for complaints may name the reader.
  const named = found.find(({ kind }) => kind === 'complaint') ?? found[0];
  if (named) return sourceOf(named, reader);
  const emailId = MESSAGE_ID.exec(findValue(fields, 'message-id') ?? '')?.[1] as EmailRow['id'] | undefined;
  if (emailId === undefined || (!reader && originalRecipients.length === 0)) return undefined;
  return { emailId, position: undefined, reader, needsReader: true };
}

function sourceOf(address: ReturnAddress, reader: ComplaintSource['reader']): ComplaintSource {
  const position = address.kind === 'complaint' ? address.position : undefined;
  return { emailId: address.emailId, position, reader, needsReader: false };
}

function findReader(links: Links, fields: readonly HeaderField[]): ComplaintSource['reader'] {
  const token = UNSUBSCRIBE_TOKEN.exec(findValue(fields, 'list-unsubscribe') ?? '')?.[1];
  const subscription = token === undefined ? undefined : links.openUnsubscribeToken(token);
  return subscription && { tenantId: subscription.tenantId, address: subscription.address };
}
