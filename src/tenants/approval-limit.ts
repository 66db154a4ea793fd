/** Limits keys whose mail requires approval: each feature names the operations that such a key may not use. */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../system/errors.ts';
import { callerOf } from './authenticate.ts';

/** Refuses keys whose mail requires approval, for these operations, on every route registered on `scope` afterwards. The scope requires a key (authenticate.ts). */
export function limitUnapprovedKeys(scope: FastifyInstance, operations: ReadonlySet<string>): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 || callerOf(request).approval === null) return done();
    const { operationId = '' } = (request.routeOptions.schema ?? {}) as { operationId?: string };
    done(operations.has(operationId) ? refusal() : undefined);
  });
}

function refusal(): AppError {
  return new AppError(
    'restricted_api_key',
    'The mail of this API key requires approval, so the key cannot approve mail, make passwords that send mail, resume broadcasts, or send the drafts of a mailbox',
  );
}
