/**
 * The part of marketing mail that each reader has alone: the link to unsubscribe, in the header and in
 * the texts.
 */
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import type { Links } from '../../links/links.ts';
import { structuredField } from '../../mail/message/headers.ts';
import type { Source } from './source.ts';

/** A message for one reader. */
export type Reader = { unsubscribeUrl: string };

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
  { links }: { links: Links },
  { tenantId, kind, topicId, contactId }: Pick<MessageRow, 'tenantId' | 'kind' | 'topicId' | 'contactId'>,
  [recipient, ...others]: readonly Pick<RecipientRow, 'address'>[],
): Reader | undefined {
  if (kind === 'transactional') return undefined;
  if (!recipient || others.length > 0) throw new Error('marketing mail has one reader in each delivery');
  const { address } = recipient;
  return {
    unsubscribeUrl: links.unsubscribeUrl({
      tenantId,
      topicId: topicId ?? undefined,
      contactId: contactId ?? undefined,
      address,
    }),
  };
}

/** Returns the header fields for a reader (RFC 2369 section 3.2): the link stands on one line. */
export function fieldsFor({ unsubscribeUrl }: Reader): string {
  return structuredField('List-Unsubscribe', `<${unsubscribeUrl}>`);
}

/** Returns the texts with the link of a reader. */
export function textsFor<Texts extends Pick<Source, 'html' | 'text'>>(
  { html, text }: Texts,
  { unsubscribeUrl }: Reader,
): Pick<Source, 'html' | 'text'> {
  const fill = (one: string) => one.replace(PLACEHOLDER, () => unsubscribeUrl);
  return {
    ...(html !== undefined && { html: fill(html) }),
    ...(text !== undefined && { text: fill(text) }),
  };
}
