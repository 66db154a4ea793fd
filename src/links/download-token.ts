/**
 * Tokens of links to files of received mail, and to received messages as they arrived. Whoever has such a link may
 * download the file until the link expires; nobody can make links to other files.
 *
 * The token is base64url without padding, in 56 characters. Its 42 bytes are the version, the id of the message (16), the
 * number of the file (2; 0 is the whole message), the time of expiry in Unix seconds (6), the first byte of the key's id,
 * and the first 128 bits of an HMAC-SHA-256 of all bytes before.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReceivedMessageRow } from '../db/inbound-tables.ts';
import { bytesToId, ID_BYTES, idToBytes } from '../system/ids.ts';
import type { LinkKeys } from './keys.ts';

/** The meaning of a token. */
export type Download = {
  messageId: ReceivedMessageRow['id'];
  /** Number of the file, from 1; 0 stands for the whole message. */
  file: number;
  /** Time from which the link is no longer valid, in Unix milliseconds. */
  expiresAt: number;
};

const VERSION = 1;
const FILE_AT = 1 + ID_BYTES;
const EXPIRY_AT = FILE_AT + 2;
const EXPIRY_BYTES = 6;
const KEY_AT = EXPIRY_AT + EXPIRY_BYTES;
const MAC_AT = KEY_AT + 1;
const MAC_BYTES = 16;
const TOKEN_BYTES = MAC_AT + MAC_BYTES;

/** Returns the token of a download. Its expiry is rounded up to a second. */
export function sealDownload(
  { current: { id, download } }: Pick<LinkKeys, 'current'>,
  { messageId, file, expiresAt }: Download,
): string {
  const bytes = Buffer.alloc(TOKEN_BYTES);
  bytes[0] = VERSION;
  idToBytes(messageId).copy(bytes, 1);
  bytes.writeUInt16BE(file, FILE_AT);
  bytes.writeUIntBE(Math.ceil(expiresAt / 1_000), EXPIRY_AT, EXPIRY_BYTES);
  id.copy(bytes, KEY_AT, 0, 1);
  macOf(download, bytes).copy(bytes, MAC_AT, 0, MAC_BYTES);
  return bytes.toString('base64url');
}

/** Returns the meaning of a token, or undefined when it is not exactly one that a key of ours made, or has expired. */
export function openDownload(
  { byId }: Pick<LinkKeys, 'byId'>,
  token: string,
  now: number,
): Download | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // The decoder ignores foreign characters, so that several texts would have the same bytes.
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token || bytes[0] !== VERSION)
    return undefined;
  const keys = [...byId.values()].filter(({ id }) => id[0] === bytes[KEY_AT]);
  const mac = bytes.subarray(MAC_AT);
  if (!keys.some(({ download }) => timingSafeEqual(macOf(download, bytes).subarray(0, MAC_BYTES), mac)))
    return undefined;
  const expiresAt = bytes.readUIntBE(EXPIRY_AT, EXPIRY_BYTES) * 1_000;
  if (now >= expiresAt) return undefined;
  const messageId = bytesToId('in', bytes.subarray(1, FILE_AT));
  return { messageId, file: bytes.readUInt16BE(FILE_AT), expiresAt };
}

function macOf(key: Buffer, token: Buffer): Buffer {
  return createHmac('sha256', key).update(token.subarray(0, MAC_AT)).digest();
}
