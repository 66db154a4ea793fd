/**
 * The fields of a message that depend on its recipients: the address for complaints, and
 * the part of marketing mail that each reader has alone: the link to unsubscribe, in the header and in the texts, and
 * in the header the address for those who unsubscribe by mail.
 */
import type { App } from '../../app.ts';
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { bounceDomain } from '../../domains/records.ts';
import type { Links } from '../../links/links.ts';
import { structuredField } from '../../mail/message/headers.ts';
import { complaintLocalPart, type ReturnAddressKey, unsubscribeLocalPart } from '../return-path.ts';
import type { Source } from './source.ts';

/** A message for one reader. */
export type Reader = {
  unsubscribeUrl: string;
  /** Address at which mail of any content unsubscribes the reader. */
  unsubscribeAddress: string;
};

type ReaderApp = Pick<App, 'config'> & { links: Links; returnAddressKey: ReturnAddressKey };
type MarketingMail = Pick<MessageRow, 'id' | 'tenantId' | 'topicId' | 'contactId'>;
type Recipient = Pick<RecipientRow, 'address' | 'position'>;

/** Name of the placeholder that stands for the link. */
export const UNSUBSCRIBE_URL = 'unsubscribe_url';
/** The placeholder as stored texts contain it. */
export const UNSUBSCRIBE_TAG = `{{{${UNSUBSCRIBE_URL}}}}`;
/** Matches the placeholder in every form of a template (templates/render.ts). The link needs no escaping in HTML. */
const PLACEHOLDER = /\{\{\{?\s*unsubscribe_url\s*(?:\|[^{}]*)?\}?\}\}/g;

/**
 * Returns the reader of a message; undefined for transactional mail, which is the same for all recipients.
 * @throws Error for marketing mail with several recipients, which would all get the link of one of them
 */
export function readerOf(
  app: ReaderApp,
  mail: MarketingMail & Pick<MessageRow, 'kind'>,
  [recipient, ...others]: readonly Recipient[],
): Reader | undefined {
  if (mail.kind === 'transactional') return undefined;
  if (!recipient || others.length > 0) throw new Error('marketing mail has one reader in each delivery');
  return readerFor(app, mail, recipient);
}

/** Returns the reader of marketing mail. The same mail and recipient always have the same one. */
export function readerFor(
  { config, links, returnAddressKey }: ReaderApp,
  { id: emailId, tenantId, topicId, contactId }: MarketingMail,
  { address, position }: Recipient,
): Reader {
  const localPart = unsubscribeLocalPart(returnAddressKey, { emailId, position });
  return {
    unsubscribeUrl: links.unsubscribeUrl({
      tenantId,
      topicId: topicId ?? undefined,
      contactId: contactId ?? undefined,
      address,
    }),
    unsubscribeAddress: `${localPart}@${bounceDomain(config)}`,
  };
}

/**
 * Returns the header fields for a reader (RFC 2369 section 3.2). Each URI stands on one line. The link comes first, because mail
 * programs use the first URI that they can (section 3). Some of them send no mail without a subject (RFC 6068 section 2).
 */
export function fieldsFor({ unsubscribeUrl, unsubscribeAddress }: Reader): string {
  const mailto = `mailto:${unsubscribeAddress}?subject=unsubscribe`;
  return structuredField('List-Unsubscribe', `<${unsubscribeUrl}>, <${mailto}>`);
}

/** Returns the texts with the link of a reader. */
export function textsFor<Texts extends Pick<Source, 'html' | 'text' | 'amp'>>(
  { html, text, amp }: Texts,
  { unsubscribeUrl }: Pick<Reader, 'unsubscribeUrl'>,
): Pick<Source, 'html' | 'text' | 'amp'> {
  const fill = (given: string) => given.replace(PLACEHOLDER, () => unsubscribeUrl);
  return {
    ...(html !== undefined && { html: fill(html) }),
    ...(text !== undefined && { text: fill(text) }),
    ...(amp !== undefined && { amp: fill(amp) }),
  };
}

type ComplaintMail = Pick<MessageRow, 'id' | 'kind' | 'complaintHost'>;

/**
 * Returns the header fields by which a mailbox provider sends complaints to us without a registration (RFC 9477):
 * `CFBL-Address` and `CFBL-Feedback-ID`, each with its CRLF, or '' when the message has no domain for them. Every
 * attempt gets the same fields. The domain of the address is `bounce.<domain of From>`, so that the signature of the sender's own
 * domain covers it (section 3.1.2). Mail without a return path of its own has no such fields: an address at our own host would need a
 * second signature by a key of that host (section 3.1.3). In marketing mail, the address names the one reader, because reports hide addresses.
 */
export function complaintFields(
  key: ReturnAddressKey,
  { id: emailId, kind, complaintHost }: ComplaintMail,
  recipients: readonly Pick<RecipientRow, 'position'>[],
): string {
  if (complaintHost === null) return '';
  const position = kind === 'broadcast' ? recipients[0]?.position : undefined;
  const token = complaintLocalPart(key, { emailId, position });
  // The identifier is authenticated, as RFC 9477 section 3.3 recommends.
  return (
    structuredField('CFBL-Address', `${token}@${complaintHost}; report=arf`) +
    structuredField('CFBL-Feedback-ID', token)
  );
}
