/**
 * Tokens of browsers in which somebody has logged in. A token opens nothing: its browser may try passwords of this account although strangers have
 * used up the failures that the account may have. Tokens are authenticated by a key of the installation instead of being stored, so they outlive
 * a restart. A cookie has those of several accounts, since a browser may have several users.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { App } from '../../app.ts';
import { DAY_MS } from '../../system/clock.ts';

/** Time for which a browser is known after a login. */
export const KNOWN_MS = 90 * DAY_MS;
/** Maximum number of accounts for which one browser is known. */
const MAX_TOKENS = 4;

/** Parts of a token, in bytes: the time at which it expires, its random id, and the code that authenticates both for one account. */
const TIME_BYTES = 6;
const ID_BYTES = 16;
const CODE_BYTES = 16;
const CONTENT_BYTES = TIME_BYTES + ID_BYTES;
const KEY_BYTES = 32;
const SEPARATOR = '.';

/** An account of a person or of a mailbox, under the name with which somebody logs in. */
export type KnownAccount = { kind: 'person' | 'mailbox'; account: string };

export type KnownDevices = {
  /** Returns the id of the token that a cookie has for this account; undefined without one that is valid. */
  find(cookie: string | undefined, owner: KnownAccount): string | undefined;
  /** Returns the cookie with a new token of the account, which replaces its present one. */
  renew(cookie: string | undefined, owner: KnownAccount): string;
};

export function createKnownDevices({ clock, sealer }: Pick<App, 'clock' | 'sealer'>): KnownDevices {
  const key = Buffer.from(
    hkdfSync('sha256', sealer.key.export(), '', 'dashboard: browsers that are known', KEY_BYTES),
  );

  const codeOf = (content: Buffer, { kind, account }: KnownAccount) =>
    createHmac('sha256', key).update(content).update(`${kind} ${account}`).digest().subarray(0, CODE_BYTES);

  /** Returns the id of a token that is valid for an account. */
  function idOf(token: string, owner: KnownAccount): string | undefined {
    const bytes = Buffer.from(token, 'base64url');
    // A text that decodes to the same bytes is no token: each has one budget.
    if (bytes.length !== CONTENT_BYTES + CODE_BYTES || bytes.toString('base64url') !== token)
      return undefined;
    const content = bytes.subarray(0, CONTENT_BYTES);
    if (!timingSafeEqual(codeOf(content, owner), bytes.subarray(CONTENT_BYTES))) return undefined;
    const isCurrent = bytes.readUIntBE(0, TIME_BYTES) > clock.now();
    return isCurrent ? content.subarray(TIME_BYTES).toString('base64url') : undefined;
  }

  function newToken(owner: KnownAccount): string {
    const expiresAt = Buffer.alloc(TIME_BYTES);
    expiresAt.writeUIntBE(clock.now() + KNOWN_MS, 0, TIME_BYTES);
    const content = Buffer.concat([expiresAt, randomBytes(ID_BYTES)]);
    return Buffer.concat([content, codeOf(content, owner)]).toString('base64url');
  }

  return {
    find(cookie, owner) {
      for (const token of tokensIn(cookie)) {
        const id = idOf(token, owner);
        if (id !== undefined) return id;
      }
      return undefined;
    },
    renew(cookie, owner) {
      const others = tokensIn(cookie).filter((token) => idOf(token, owner) === undefined);
      return [newToken(owner), ...others].slice(0, MAX_TOKENS).join(SEPARATOR);
    },
  };
}

/** Returns the texts of a cookie that have the shape of tokens. A stranger may send anything, and gets none of it back. */
function tokensIn(cookie: string = ''): string[] {
  return cookie.split(SEPARATOR, MAX_TOKENS).filter((token) => TOKEN.test(token));
}

const TOKEN = /^[\w-]{51}$/;
