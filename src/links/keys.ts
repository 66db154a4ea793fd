/**
 * The keys of public links, which stand in mail. They are stored in the database, sealed with the master key, so that
 * a backup of both keeps every link valid.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Db } from '../db/database.ts';
import type { Clock } from '../system/clock.ts';
import type { Sealer } from '../system/seal.ts';
import { insertLinkKey, listLinkKeys } from './store.ts';

/** A key of public links. Each purpose has a key of its own that is derived from the secret. */
export type LinkKey = {
  /** Four bytes that tokens begin with, by which their key is found. */
  id: Buffer;
  /** Encrypts tokens, with 32 bytes. */
  encryption: Buffer;
  /** Makes the nonce of a token from its content, with 32 bytes. */
  nonce: Buffer;
};

export type LinkKeys = {
  /** The key of new links. */
  current: LinkKey;
  /** All keys, by the hexadecimal form of their id. */
  byId: ReadonlyMap<string, LinkKey>;
};

const SECRET_BYTES = 32;
const ID_BYTES = 4;
const ID_DIGITS = 2 * ID_BYTES;

/**
 * Returns the keys. The first start makes one.
 * @throws Error when a key does not open with the master key
 */
export async function openLinkKeys({
  db,
  sealer,
  clock,
}: {
  db: Db;
  sealer: Sealer;
  clock: Pick<Clock, 'now'>;
}): Promise<LinkKeys> {
  const rows = await listLinkKeys(db.read);
  if (rows.length > 0)
    return linkKeysOf(
      rows.map(({ id, secretSealed }) => Buffer.from(sealer.open(secretSealed, context(id)), 'hex')),
    );
  const secret = randomBytes(SECRET_BYTES);
  const id = idOf(secret).toString('hex');
  const secretSealed = sealer.seal(secret.toString('hex'), context(id));
  await db.commit(insertLinkKey, { id, secretSealed, createdAt: clock.now() });
  return linkKeysOf([secret]);
}

/**
 * Returns the keys that are derived from these secrets. The last secret is that of new links.
 * @throws Error when there is none
 */
export function linkKeysOf(secrets: readonly Buffer[]): LinkKeys {
  const keys = secrets.map(derive);
  const current = keys.at(-1);
  if (!current) throw new Error('there is no key for links');
  return { current, byId: new Map(keys.map((key) => [key.id.toString('hex'), key])) };
}

function context(id: string): readonly string[] {
  return ['linkKeys', id];
}

function idOf(secret: Buffer): Buffer {
  return Buffer.from(createHash('sha256').update(secret).digest('hex').slice(0, ID_DIGITS), 'hex');
}

function derive(secret: Buffer): LinkKey {
  const of = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, SECRET_BYTES));
  return { id: idOf(secret), encryption: of('unsubscribe token'), nonce: of('unsubscribe nonce') };
}
