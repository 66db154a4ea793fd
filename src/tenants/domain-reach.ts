/**
 * Limits keys that are limited to one domain or to the messages of one mailbox: each feature says of each operation of its routes what such
 * keys may do with it.
 */
import type { FastifyInstance } from 'fastify';
import type { DomainReach } from '../feature.ts';
import { AppError } from '../system/errors.ts';
import { type Caller, callerOf } from './authenticate.ts';

/**
 * Refuses keys of one domain, keys of one mailbox and all other callers where `reaches` says so, on every route registered on `scope`
 * afterwards. The scope requires a key (authenticate.ts). The server does not start with an operation that is missing there, and test/tenancy/
 * tries each of them with such keys.
 */
export function limitKeysByReach(scope: FastifyInstance, reaches: ReadonlyMap<string, DomainReach>): void {
  const operationOf = (schema: unknown) =>
    (schema as { operationId?: string } | undefined)?.operationId ?? '';
  scope.addHook('onRoute', ({ schema, url }) => {
    if (reaches.has(operationOf(schema))) return;
    throw new Error(`no feature says what a key of one domain may do at ${url}`);
  });
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) return done();
    done(findRefusal(callerOf(request), reaches.get(operationOf(request.routeOptions.schema))));
  });
}

function findRefusal({ domainId, mailboxId }: Caller, reach: DomainReach | undefined): AppError | undefined {
  if (reach === 'every') return undefined;
  // People's mail is private also from those who manage the tenant.
  if (reach === 'mailbox' && mailboxId === null)
    return refusal(
      'Messages of a mailbox need an API key that the owner of the mailbox or the operator made',
    );
  if (reach !== 'mailbox' && mailboxId !== null)
    return refusal(
      'This API key is limited to the messages of one mailbox, and does not permit this request',
    );
  if (reach === 'none' && domainId !== null)
    return refusal('This API key is limited to one domain, and does not permit this request');
  return undefined;
}

function refusal(message: string): AppError {
  return new AppError('restricted_api_key', message);
}
