/** Header fields by which receivers and mail programs recognise marketing mail and its topic. */
import { createHash } from 'node:crypto';
import type { App } from '../app.ts';
import { INLINE_BYTES } from '../blobs/blobs.ts';
import type { BroadcastRow, TopicRow } from '../db/marketing-tables.ts';
import { encodeWords } from '../mail/encoded-word.ts';
import { UNSUBSCRIBE_TAG, UNSUBSCRIBE_URL } from '../queue/contents/reader.ts';
import { invalid } from '../system/errors.ts';
import type { HeaderField } from './request/headers.ts';

/** Matches a phrase that needs neither quotes nor encoding (RFC 5322 section 3.2.5). */
const PLAIN_PHRASE = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;
/** Length of the id of the sender in `Feedback-ID`. Gmail asks for 5 to 15 characters. */
const SENDER_ID_CHARACTERS = 12;

/**
 * Returns the fields that are the same for every reader. The link in `List-Unsubscribe` is added when the mail is sent to
 * one of them (queue/contents/reader.ts).
 *
 * - `List-Id` (RFC 2919): its phrase is the name of the topic, and its id stays when the topic is renamed.
 * - `List-Unsubscribe-Post` (RFC 8058 section 3.1): the link accepts one-click requests.
 * - `Precedence` and `X-Auto-Response-Suppress` ask for no automatic replies (RFC 3834 section 2; [MS-OXCMAIL] 2.1.3.2.20).
 * - `Feedback-ID`: Gmail reports complaints by its four parts, none of which names a reader.
 */
export function marketingFields(
  app: Pick<App, 'config' | 'db'>,
  { id, tenantId, name }: Pick<TopicRow, 'id' | 'tenantId' | 'name'>,
): HeaderField[] {
  return listFields(app, { listId: id, name, tenantId, campaign: 'email' });
}

/**
 * Returns the same fields for the copies of a broadcast. Without a topic, the list is its audience, whose name is not shown to
 * readers.
 */
export function broadcastFields(
  app: Pick<App, 'config' | 'db'>,
  {
    id,
    tenantId,
    topicId,
    audienceId,
    topicName,
  }: Pick<BroadcastRow, 'id' | 'tenantId' | 'topicId' | 'audienceId'> & { topicName: string | undefined },
): HeaderField[] {
  return listFields(app, { listId: topicId ?? audienceId, name: topicName, tenantId, campaign: id });
}

type List = {
  listId: string;
  name: string | undefined;
  tenantId: TopicRow['tenantId'];
  /** First part of `Feedback-ID`. */
  campaign: string;
};

function listFields(
  { config, db }: Pick<App, 'config' | 'db'>,
  { listId, name, tenantId, campaign }: List,
): HeaderField[] {
  const phrase = name === undefined || PLAIN_PHRASE.test(name) ? name : encodeWords(name);
  const list = `<${listId}.${config.hostname}>`;
  return [
    { name: 'List-Id', value: phrase === undefined ? list : `${phrase} ${list}` },
    { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    { name: 'Precedence', value: 'bulk' },
    { name: 'X-Auto-Response-Suppress', value: 'OOF, AutoReply' },
    { name: 'Feedback-ID', value: `${campaign}:${listId}:${tenantId}:${senderIdOf(db.installation.id)}` },
  ];
}

function senderIdOf(installationId: string): string {
  return createHash('sha256').update(installationId).digest('hex').slice(0, SENDER_ID_CHARACTERS);
}

/** Variables of marketing mail that are filled in for each reader when the mail is sent. */
export const READER_VARIABLES = { [UNSUBSCRIBE_URL]: UNSUBSCRIBE_TAG };

/**
 * Refuses texts that are too large to be composed for each reader.
 * @throws AppError validation_error
 */
export function requireMarketingSize({
  html = '',
  text = '',
  amp = '',
}: {
  html?: string | undefined;
  text?: string | undefined;
  amp?: string | undefined;
}): void {
  if (Buffer.byteLength(html) + Buffer.byteLength(text) + Buffer.byteLength(amp) <= INLINE_BYTES) return;
  throw invalid(
    'html',
    `Marketing mail may have at most ${INLINE_BYTES / 1024} KiB of HTML and text together`,
  );
}
