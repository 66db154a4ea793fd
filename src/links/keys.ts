/**
 * The keys of public links, which stand in mail for ever. They are derived from master keys, so that a backup of the
 * database and its key keeps every link valid.
 */
import { createHash, hkdfSync, type KeyObject } from 'node:crypto';
import type { SealingKeys } from './sealed-token.ts';

/** A key of public links. Each purpose has a key of its own. */
type LinkKey = {
  /** Four bytes that tokens name their key by. */
  id: Buffer;
  /** Encrypts tokens, with 32 bytes. */
  encryption: Buffer;
  /** Makes the nonce of a token from its content, with 32 bytes. */
  nonce: Buffer;
  /** Seals the tokens of confirmation mail. */
  confirmation: SealingKeys;
  /** Authenticates the tokens of tracked links, with 32 bytes. */
  tracking: Buffer;
  /** Authenticates the tokens of downloads of received mail, with 32 bytes. */
  download: Buffer;
};

export type LinkKeys = {
  /** The key of new links. */
  current: LinkKey;
  /** All keys, by the hexadecimal form of their id. */
  byId: ReadonlyMap<string, LinkKey>;
};

const KEY_BYTES = 32;
const ID_BYTES = 4;

/**
 * Returns the keys that are derived from these master keys. The first is that of new links; links of all others stay
 * valid.
 */
export function linkKeysOf(masterKey: Buffer, ...formerKeys: readonly Buffer[]): LinkKeys {
  const current = derive(masterKey);
  const keys = [current, ...formerKeys.map(derive)];
  return { current, byId: new Map(keys.map((key) => [key.id.toString('hex'), key])) };
}

/** Keys by the master key that they are derived from, because several features of one installation make links. */
const known = new WeakMap<KeyObject, LinkKeys>();

/** Returns the keys of an installation, which are derived once. */
export function linkKeysOfInstallation(masterKey: KeyObject): LinkKeys {
  const keys = known.get(masterKey) ?? linkKeysOf(masterKey.export());
  known.set(masterKey, keys);
  return keys;
}

function derive(masterKey: Buffer): LinkKey {
  const of = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', masterKey, '', `links: ${purpose}`, KEY_BYTES));
  const id = createHash('sha256').update(of('id')).digest().subarray(0, ID_BYTES);
  const confirmation = { encryption: of('confirmation encryption'), nonce: of('confirmation nonce') };
  return {
    id,
    encryption: of('encryption'),
    nonce: of('nonce'),
    confirmation,
    tracking: of('tracking'),
    download: of('download'),
  };
}
