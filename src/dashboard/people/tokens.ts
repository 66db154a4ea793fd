/** Secret tokens of sessions and links. The database has their hashes alone, so a copy of it opens no session. */
import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
/** Matches what `newToken` returns. */
const TOKEN = /^[\w-]{43}$/;

/** Returns a new token with 256 random bits. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the hash under which a token is stored; undefined for a text that is no token. */
export function hashToken(token: string): string | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest('hex') : undefined;
}
