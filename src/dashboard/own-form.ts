/** Refuses forms that do not come from a page of this host (cross-site request forgery), and those of a page of another version. */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../system/errors.ts';
import { VERSION_HEADER } from './version-header.ts';

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

/** Refuses a form of a page that another version of the program has made: its fields may mean something else now. */
export class OtherVersion extends AppError {
  constructor() {
    super('invalid_state', 'The program has another version than the page; load the page again');
  }
}

/**
 * Checks the version of the page that a form stands on. Scripts name it, because they can say so and keep what was entered; a browser without
 * them sends the form, which is checked like every other one.
 * @throws OtherVersion
 */
export function requireThisVersion({ headers }: FastifyRequest, version: string): void {
  const named = headers[VERSION_HEADER];
  if (named !== undefined && named !== version) throw new OtherVersion();
}
