/**
 * Tokens of the links in confirmation mail. A token carries everything that a confirmation needs (sealed-token.ts), and the
 * time from which its validity counts.
 *
 * The content is three ids of 16 bytes, for the tenant, the audience and the contact, the time as 6 bytes of Unix
 * milliseconds, and the address.
 */
import type { AudienceRow, ContactRow } from '../db/marketing-tables.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { bytesToId, ID_BYTES, idToBytes } from '../system/ids.ts';
import type { LinkKeys } from './keys.ts';
import { maxTokenCharacters, openToken, sealToken } from './sealed-token.ts';

/** The contact that a link confirms. */
export type ConfirmationToken = {
  tenantId: TenantRow['id'];
  audienceId: AudienceRow['id'];
  contactId: ContactRow['id'];
  /** Address that the mail was sent to. */
  address: string;
  /** Time at which the link was made, in Unix milliseconds. */
  issuedAt: number;
};

const VERSION = 2;
const TIME_BYTES = 6;
const TIME_AT = 3 * ID_BYTES;
const ADDRESS_AT = TIME_AT + TIME_BYTES;
/** Maximum length of a token in characters. */
const MAX_CHARACTERS = maxTokenCharacters(ADDRESS_AT);

/** Returns the token that confirms a contact. */
export function sealConfirmation(
  { current }: Pick<LinkKeys, 'current'>,
  { tenantId, audienceId, contactId, address, issuedAt }: ConfirmationToken,
): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUIntBE(issuedAt, 0, TIME_BYTES);
  const ids = [tenantId, audienceId, contactId].map(idToBytes);
  const content = Buffer.concat([...ids, time, Buffer.from(address)]);
  return sealToken({ version: VERSION, keyId: current.id, keys: current.confirmation }, content);
}

/** Returns what a token confirms, or undefined when the token is not exactly one that a key of ours sealed. */
export function openConfirmation(
  { byId }: Pick<LinkKeys, 'byId'>,
  token: string,
): ConfirmationToken | undefined {
  const content = openToken(
    {
      version: VERSION,
      minBytes: ADDRESS_AT + 1,
      maxCharacters: MAX_CHARACTERS,
      findKeys: (keyId) => byId.get(keyId)?.confirmation,
    },
    token,
  );
  if (!content) return undefined;
  const id = <P extends string>(prefix: P, index: number) =>
    bytesToId(prefix, content.subarray(index * ID_BYTES, (index + 1) * ID_BYTES));
  return {
    tenantId: id('ten', 0),
    audienceId: id('aud', 1),
    contactId: id('ct', 2),
    issuedAt: content.readUIntBE(TIME_AT, TIME_BYTES),
    address: content.toString('utf8', ADDRESS_AT),
  };
}
