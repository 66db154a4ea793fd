/**
 * Limits what test keys change about receiving. Routes and mailboxes serve both modes, so that a test key could take the mail of real people.
 * It changes those at the sandbox domain alone, and reads the others.
 */
import type { Mode } from '../db/tables.ts';
import { AppError } from '../system/errors.ts';

/**
 * Checks that a key may change routes and mailboxes at a domain.
 * @param place.sandbox the sandbox domain
 * @param place.param names the field of the request with the domain; undefined when the request names the resource
 * @throws AppError restricted_api_key
 */
export function requireChangeable(
  mode: Mode,
  { domain, sandbox, param }: { domain: string; sandbox: string; param?: string },
): void {
  if (mode === 'live' || domain === sandbox) return;
  throw new AppError(
    'restricted_api_key',
    `A test key makes and changes routes and mailboxes at ${sandbox} alone; use a live key for ${domain}`,
    param === undefined ? {} : { param },
  );
}
