/**
 * Tokens of tracked links and of the pixel. A token names an email and one of its links, and is authenticated, so that nobody can
 * make tokens for other emails. It contains nothing about the reader.
 *
 * The token is base64url without padding, in 48 characters. Its 36 bytes are the kind, the id of the email (16), the number of the
 * link (2), the first byte of the key's id, and the first 128 bits of an HMAC-SHA-256 of all bytes before.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EmailRow } from '../db/email-tables.ts';
import { bytesToId, ID_BYTES, idToBytes } from '../system/ids.ts';
import type { LinkKeys } from './keys.ts';

/** The meaning of a token. The links of an email are numbered from 0. */
export type TrackingTarget =
  | { kind: 'open'; emailId: EmailRow['id'] }
  | { kind: 'click'; emailId: EmailRow['id']; link: number };

/** Makes the tokens of one email. */
export type TrackingTokens = { open(): string; click(link: number): string };

const KINDS = { open: 1, click: 2 } as const;
const LINK_AT = 1 + ID_BYTES;
const KEY_AT = LINK_AT + 2;
const MAC_AT = KEY_AT + 1;
const MAC_BYTES = 16;
const TOKEN_BYTES = MAC_AT + MAC_BYTES;

/** Returns the function that makes the tokens of an email. */
export function trackingTokens(
  { current: { id, tracking } }: Pick<LinkKeys, 'current'>,
  emailId: string,
): TrackingTokens {
  const emailBytes = idToBytes(emailId);
  const token = (kind: keyof typeof KINDS, link: number): string => {
    const bytes = Buffer.alloc(TOKEN_BYTES);
    bytes[0] = KINDS[kind];
    emailBytes.copy(bytes, 1);
    bytes.writeUInt16BE(link, LINK_AT);
    id.copy(bytes, KEY_AT, 0, 1);
    macOf(tracking, bytes).copy(bytes, MAC_AT, 0, MAC_BYTES);
    return bytes.toString('base64url');
  };
  return { open: () => token('open', 0), click: (link) => token('click', link) };
}

/** Returns what a token stands for, or undefined when it is not exactly one that a key of ours made. */
export function openTrackingToken(
  { byId }: Pick<LinkKeys, 'byId'>,
  token: string,
): TrackingTarget | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // The decoder ignores foreign characters, so that several texts would have the same bytes.
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined;
  const keys = [...byId.values()].filter(({ id }) => id[0] === bytes[KEY_AT]);
  const mac = bytes.subarray(MAC_AT);
  if (!keys.some(({ tracking }) => timingSafeEqual(macOf(tracking, bytes).subarray(0, MAC_BYTES), mac)))
    return undefined;
  const emailId = bytesToId('em', bytes.subarray(1, LINK_AT));
  const link = bytes.readUInt16BE(LINK_AT);
  if (bytes[0] === KINDS.click) return { kind: 'click', emailId, link };
  return bytes[0] === KINDS.open && link === 0 ? { kind: 'open', emailId } : undefined;
}

function macOf(key: Buffer, token: Buffer): Buffer {
  return createHmac('sha256', key).update(token.subarray(0, MAC_AT)).digest();
}
