/** Refuses forms that do not come from a page of this host (cross-site request forgery). */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../system/errors.ts';

/**
 * Checks where a form comes from. Every browser of today says it in `Sec-Fetch-Site` or `Origin`; a request that says neither comes from no
 * page of ours.
 *
 * @throws AppError restricted_api_key
 */
export function requireOwnForm({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined ? site === 'same-origin' : isOwn(headers.origin, headers.host)) return;
  throw new AppError('restricted_api_key', 'The form came from another site, and nothing was changed');
}

function isOwn(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}
