/** Decides which API keys may change mailboxes. */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../system/errors.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';

/**
 * Returns the caller of a request that changes a mailbox or what belongs to it. A key that may send from one domain alone may not: it could
 * give itself the password of a mailbox, which sends from all of its addresses.
 * @throws AppError restricted_api_key
 */
export function managerOf(request: FastifyRequest): Caller {
  const caller = callerOf(request);
  if (caller.domainId === null) return caller;
  throw new AppError(
    'restricted_api_key',
    'An API key that is limited to one domain cannot change mailboxes',
  );
}
