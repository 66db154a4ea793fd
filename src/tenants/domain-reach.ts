/** Limits keys that are limited to one domain: each feature says of each operation of its routes what such a key may do with it. */
import type { FastifyInstance } from 'fastify';
import type { DomainReach } from '../feature.ts';
import { AppError } from '../system/errors.ts';
import { callerOf } from './authenticate.ts';

/**
 * Refuses keys of one domain where `reaches` says so, on every route registered on `scope` afterwards. The scope requires a key (authenticate.ts). The
 * server does not start with an operation that is missing there, and test/tenancy/ tries each of them with such keys.
 */
export function limitDomainKeys(scope: FastifyInstance, reaches: ReadonlyMap<string, DomainReach>): void {
  const operationOf = (schema: unknown) =>
    (schema as { operationId?: string } | undefined)?.operationId ?? '';
  scope.addHook('onRoute', ({ schema, url }) => {
    if (reaches.has(operationOf(schema))) return;
    throw new Error(`no feature says what a key of one domain may do at ${url}`);
  });
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 || callerOf(request).domainId === null) return done();
    const reach = reaches.get(operationOf(request.routeOptions.schema));
    done(reach === 'none' ? refusal() : undefined);
  });
}

function refusal(): AppError {
  return new AppError(
    'restricted_api_key',
    'This API key is limited to one domain, and does not permit this request',
  );
}
