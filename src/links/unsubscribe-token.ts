/**
 * Tokens of unsubscribe links. A token carries everything that an unsubscribe needs (sealed-token.ts), so that it stays
 * valid when its mail, its contact and its broadcast are deleted. The same reader and topic always have the same token,
 * so that every attempt sends the same bytes.
 *
 * The content is three ids of 16 bytes, for the tenant, the topic and the contact, and the address. An id that is
 * absent is zero. A token has at most 200 characters for an address of up to 69 bytes.
 */
import type { ContactRow, TopicRow } from '../db/marketing-tables.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { bytesToId, ID_BYTES, idToBytes } from '../system/ids.ts';
import type { LinkKeys } from './keys.ts';
import { maxTokenCharacters, openToken, sealToken } from './sealed-token.ts';

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
const IDS_BYTES = 3 * ID_BYTES;
/** Maximum length of a token in characters, four for three bytes. */
export const MAX_TOKEN_CHARACTERS = maxTokenCharacters(IDS_BYTES);

/** Returns the token of a subscription. */
export function sealSubscription(
  { current }: Pick<LinkKeys, 'current'>,
  { tenantId, topicId, contactId, address }: Subscription,
): string {
  const ids = [tenantId, topicId, contactId].map((one) =>
    one === undefined ? Buffer.alloc(ID_BYTES) : idToBytes(one),
  );
  const content = Buffer.concat([...ids, Buffer.from(address)]);
  return sealToken({ version: VERSION, keyId: current.id, keys: current }, content);
}

/** Returns the subscription of a token, or undefined when the token is not exactly one that a key of ours sealed. */
export function openSubscription({ byId }: Pick<LinkKeys, 'byId'>, token: string): Subscription | undefined {
  const content = openToken(
    {
      version: VERSION,
      minBytes: IDS_BYTES + 1,
      maxCharacters: MAX_TOKEN_CHARACTERS,
      findKeys: (keyId) => byId.get(keyId),
    },
    token,
  );
  return content && read(content);
}

function read(content: Buffer): Subscription {
  const id = <P extends string>(prefix: P, index: number) =>
    bytesToId(prefix, content.subarray(index * ID_BYTES, (index + 1) * ID_BYTES));
  const optional = <P extends string>(prefix: P, index: number) =>
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
