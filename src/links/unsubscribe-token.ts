/**
 * Tokens of unsubscribe links. A token carries everything that an unsubscribe needs, encrypted and authenticated
 * (AES-256-GCM), so that it stays valid when its mail, its contact and its broadcast are deleted. The nonce is derived
 * from the content: the same reader and topic always have the same token, so that every attempt sends the same bytes.
 *
 * The token is base64url without padding. Its bytes are the version, the id of the key, the nonce, the encrypted
 * content and the tag. The content is three ids of 16 bytes, for the tenant, the topic and the contact, and the
 * address. An id that is absent is zero. A token has at most 200 characters for an address of up to 69 bytes.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { ContactRow, TopicRow } from '../db/marketing-tables.ts';
import type { TenantRow } from '../db/tables.ts';
import { bytesToId, ID_BYTES, type IdPrefix, idToBytes } from '../system/ids.ts';
import type { LinkKeys } from './keys.ts';

/** The reader who unsubscribes, and from what. */
export type Subscription = {
  tenantId: TenantRow['id'];
  /** The topic of the mail. Without a topic, the link leaves all marketing mail. */
  topicId: TopicRow['id'] | undefined;
  /** The contact that the mail was sent to, if it was sent to one. */
  contactId: ContactRow['id'] | undefined;
  /** Address that the mail was sent to. */
  address: string;
};

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const IDS_BYTES = 3 * ID_BYTES;
/** Maximum length of an address (RFC 5321 section 4.5.3.1.3, without the angle brackets). */
const MAX_ADDRESS_BYTES = 254;
const MAX_TOKEN_BYTES = HEAD_BYTES + NONCE_BYTES + IDS_BYTES + MAX_ADDRESS_BYTES + TAG_BYTES;
/** Maximum length of a token in characters, four for three bytes. */
export const MAX_TOKEN_CHARACTERS = Math.ceil((MAX_TOKEN_BYTES * 4) / 3);

/** Returns the token of a subscription. */
export function sealSubscription(
  { current: { id, encryption, nonce: nonceKey } }: Pick<LinkKeys, 'current'>,
  { tenantId, topicId, contactId, address }: Subscription,
): string {
  const ids = [tenantId, topicId, contactId].map((one) =>
    one === undefined ? Buffer.alloc(ID_BYTES) : idToBytes(one),
  );
  const content = Buffer.concat([...ids, Buffer.from(address)]);
  const nonce = createHmac('sha256', nonceKey).update(content).digest().subarray(0, NONCE_BYTES);
  const head = Buffer.concat([Buffer.of(VERSION), id]);
  const cipher = createCipheriv('aes-256-gcm', encryption, nonce).setAAD(head);
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([head, nonce, encrypted, cipher.getAuthTag()]).toString('base64url');
}

/** Returns the subscription of a token, or undefined when the token is not exactly one that a key of ours sealed. */
export function openSubscription({ byId }: Pick<LinkKeys, 'byId'>, token: string): Subscription | undefined {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // The decoder ignores foreign characters and the last bits, so that several texts would have the same bytes.
  if (bytes.toString('base64url') !== token) return undefined;
  const key = byId.get(bytes.toString('hex', 1, HEAD_BYTES));
  if (bytes[0] !== VERSION || !key || bytes.length <= HEAD_BYTES + NONCE_BYTES + IDS_BYTES + TAG_BYTES)
    return undefined;
  const decipher = createDecipheriv(
    'aes-256-gcm',
    key.encryption,
    bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES),
  )
    .setAAD(bytes.subarray(0, HEAD_BYTES))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const encrypted = bytes.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES);
    return read(Buffer.concat([decipher.update(encrypted), decipher.final()]));
  } catch {
    return undefined;
  }
}

function read(content: Buffer): Subscription {
  const id = <P extends IdPrefix>(prefix: P, index: number) =>
    bytesToId(prefix, content.subarray(index * ID_BYTES, (index + 1) * ID_BYTES));
  const optional = <P extends IdPrefix>(prefix: P, index: number) =>
    content.subarray(index * ID_BYTES, (index + 1) * ID_BYTES).every((byte) => byte === 0)
      ? undefined
      : id(prefix, index);
  return {
    tenantId: id('ten', 0),
    topicId: optional('top', 1),
    contactId: optional('ct', 2),
    address: content.toString('utf8', IDS_BYTES),
  };
}
