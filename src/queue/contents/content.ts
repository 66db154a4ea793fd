/**
 * The content of a message. A `stored` message was composed by an earlier version of Postrider when it was accepted, and
 * its bytes are in a blob. A `rendered` message is composed each time it is sent, from its texts, which other messages may
 * share, and from its own header fields and values. The same input gives the same bytes at every attempt.
 */

import type { ContentRow } from '../../db/email-tables.ts';
import type { BlobRow, MessageRow } from '../../db/tables.ts';
import { COMPOSER_VERSION } from '../../mail/message/compose.ts';
import { renderParsed, type VariableValue } from '../../templates/render.ts';
import { type ParsedTemplate, parseTemplate } from '../../templates/tags.ts';
import { UNSUBSCRIBE_TAG, UNSUBSCRIBE_URL } from './reader.ts';
import type { Source } from './source.ts';

export type MergeValues = Readonly<Record<string, VariableValue>>;

export type MessageContent =
  | { kind: 'stored'; blobId: BlobRow['id']; headerBytes: number; bodyHash: string }
  | {
      kind: 'rendered';
      contentId: ContentRow['id'];
      /** Header fields up to `MIME-Version`. */
      fields: string;
      /** Values for the placeholders of a shared content. Undefined when the texts are sent as they are. */
      values: MergeValues | undefined;
      /** The files that follow the texts. */
      blobId: BlobRow['id'] | undefined;
      /** Hash of the body, when it is known and this version of the composer writes the same body. */
      bodyHash: string | undefined;
      /** True when this version of the composer writes the bytes that an earlier attempt has sent. */
      isCurrent: boolean;
    };

type ContentColumns = Pick<
  MessageRow,
  'id' | 'blobId' | 'headerBytes' | 'bodyHash' | 'contentId' | 'composer' | 'fields' | 'mergeValues'
>;

/**
 * Returns the content of a message.
 * @throws Error when the content was deleted
 */
export function contentOf(message: ContentColumns): MessageContent {
  const { blobId, headerBytes, bodyHash, contentId, fields } = message;
  if (fields !== null && contentId !== null) {
    const isCurrent = message.composer === COMPOSER_VERSION;
    return {
      kind: 'rendered',
      contentId,
      fields,
      values: valuesOf(message),
      blobId: blobId ?? undefined,
      bodyHash: isCurrent && bodyHash !== '' ? bodyHash : undefined,
      isCurrent,
    };
  }
  if (blobId === null) throw new Error(`message ${message.id} has no content`);
  return { kind: 'stored', blobId, headerBytes, bodyHash };
}

/** Returns the values of a message for a shared content. */
export function valuesOf({ mergeValues }: Pick<MessageRow, 'mergeValues'>): MergeValues | undefined {
  return mergeValues === null ? undefined : (JSON.parse(mergeValues) as MergeValues);
}

/** The texts of a source, with the placeholders that each message fills in. */
export type TextTemplates = { html?: ParsedTemplate; text?: ParsedTemplate };

/** Finds the placeholders of the texts of a source. */
export function parseTexts({ html, text }: Source): TextTemplates {
  return {
    ...(html !== undefined && { html: parseTemplate(html, 'html') }),
    ...(text !== undefined && { text: parseTemplate(text, 'text') }),
  };
}

/** Returns the texts of one message. Placeholders are filled in when the message has values. */
export function fillTexts(
  source: Source,
  given: MergeValues | undefined,
  templates?: TextTemplates,
): Pick<Source, 'html' | 'text' | 'amp'> {
  if (!given) {
    const { html, text, amp } = source;
    return {
      ...(html !== undefined && { html }),
      ...(text !== undefined && { text }),
      ...(amp !== undefined && { amp }),
    };
  }
  const { html, text } = templates ?? parseTexts(source);
  // The link to unsubscribe stays a placeholder, which reader.ts fills in.
  const values = { ...given, [UNSUBSCRIBE_URL]: UNSUBSCRIBE_TAG };
  return {
    ...(html !== undefined && { html: renderParsed(html, values, { form: 'html', isMarketing: true }).text }),
    ...(text !== undefined && { text: renderParsed(text, values, { form: 'text', isMarketing: true }).text }),
  };
}
