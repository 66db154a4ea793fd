/** Makes links that let somebody in once. Whoever makes one hands it over; logging in never depends on mail that arrives. */
import type { App } from '../../app.ts';
import type { LoginLinkRow } from '../../db/people-tables.ts';
import { MINUTE_MS } from '../../system/clock.ts';
import { newId } from '../../system/ids.ts';
import { insertLoginLink } from './links-store.ts';
import { hashToken, newToken } from './tokens.ts';

/** Time for which a link works. */
export const LINK_MS = 30 * MINUTE_MS;

/**
 * Describes the rights that a link gives. `makerId` is the person who makes it, and must still have the right when it is used; null stands for the command
 * line, which has every right.
 */
export type LinkGrant = Pick<
  LoginLinkRow,
  'kind' | 'email' | 'tenantId' | 'role' | 'isOperator' | 'personId' | 'madeBy' | 'makerId'
>;

/**
 * Makes a link.
 * @returns its path, which contains the secret and is shown once
 * @throws the errors of `insertLoginLink`
 */
export async function makeLoginLink(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  grant: LinkGrant,
): Promise<string> {
  const now = clock.now();
  const token = newToken();
  const tokenHash = hashToken(token) ?? '';
  await db.commit(insertLoginLink, {
    ...grant,
    id: newId('lnk', now),
    tokenHash,
    createdAt: now,
    expiresAt: now + LINK_MS,
    usedAt: null,
  });
  return `/link/${token}`;
}
