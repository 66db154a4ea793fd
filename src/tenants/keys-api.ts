/**
 * `/v1/api-keys`: a tenant manages its own keys. A leaked key must not create others that outlive it. Therefore only
 * keys with full access and without limits manage keys, those of their own mode, and any key may delete itself.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { ApiKeyRow } from '../db/tenant-tables.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { AppError } from '../system/errors.ts';
import { type Caller, callerOf, hasLimits } from './authenticate.ts';
import { readKeyLimits } from './key-request.ts';
import { changeKey, createApiKey, deleteKey, type NewKey } from './keys.ts';
import {
  apiKeyChangeSchema,
  apiKeySchema,
  createdApiKeySchema,
  type NewApiKey,
  newApiKeySchema,
  showApiKey,
} from './schemas.ts';
import { getKeyInUse, listKeysInUse } from './store.ts';

/** A new key with its token, which exists only until the answer is sent. */
type CreatedKey = ApiKeyRow & { token: string };

const PATH = '/api-keys';
const TAG = 'API keys';

/** Registers the routes of the API keys resource. */
export function registerApiKeysApi(server: FastifyInstance, app: App): void {
  const keys = resourceRoutes<ApiKeyRow>(server, {
    name: 'api key',
    tag: TAG,
    path: PATH,
    prefix: 'key',
    schema: apiKeySchema,
    show: showApiKey,
  });
  keys.create(
    {
      summary: 'Create an API key',
      description:
        'Creates a key with the mode of the requesting key, which must have full access and no limits.',
      body: newApiKeySchema,
      answer: {
        schema: createdApiKeySchema,
        show: ({ token, ...key }: CreatedKey) => ({ ...showApiKey(key), token }),
      },
    },
    async (request) => {
      const { key, token } = await createApiKey(
        app,
        newKey(managerOf(request), request.body, app.clock.now()),
      );
      return { ...key, token };
    },
  );
  keys.list(
    { summary: 'List API keys', description: 'Returns the keys with the mode of the requesting key.' },
    (request, page) => listKeysInUse(app.db.read, managerOf(request), page),
  );
  keys.get({ summary: 'Retrieve an API key' }, async (request) =>
    getKeyInUse(app.db.read, managerOf(request), request.params.id),
  );
  keys.update(
    { summary: 'Change an API key', body: apiKeyChangeSchema, refuses: ['invalid_state'] },
    async (request) => {
      const { tenantId, mode } = managerOf(request);
      const { name, requiresApproval } = request.body;
      const change = {
        ...(name !== undefined && { name }),
        ...(requiresApproval !== undefined && { requiresApproval }),
      };
      return changeKey(app, { tenantId, mode }, { id: request.params.id, change });
    },
  );
  registerDelete(server, app);
}

function registerDelete(server: FastifyInstance, app: App): void {
  const path = `${PATH}/:id`;
  server.delete<{ Params: { id: string } }>(
    path,
    {
      config: { needs: 'any' },
      schema: {
        operationId: 'deleteApiKey',
        summary: 'Revoke an API key',
        description: 'Revokes a key at once and permanently. Any key may revoke itself.',
        tags: [TAG],
        ...paramsOf(path),
        response: { 204: Type.Null({ description: 'Deleted' }) },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { tenantId, mode } = id === callerOf(request).keyId ? callerOf(request) : managerOf(request);
      await deleteKey(app, { tenantId, mode }, id);
      return reply.code(204).send();
    },
  );
}

/**
 * Returns the caller if its key may manage keys.
 * @throws AppError restricted_api_key
 */
function managerOf(request: FastifyRequest): Caller {
  if (!hasLimits(request)) return callerOf(request);
  throw new AppError(
    'restricted_api_key',
    'Only an API key with full access and without a limit (domain, addresses, expiry, approval) can manage API keys',
  );
}

/**
 * Returns the new key that a request asks for.
 * @throws AppError restricted_api_key for the other mode, validation_error
 */
function newKey(caller: Caller, body: NewApiKey, now: number): NewKey {
  const { name, mode = caller.mode, permission, domainId = null, requiresApproval = null } = body;
  if (mode !== caller.mode) {
    throw new AppError(
      'restricted_api_key',
      `A ${caller.mode} key cannot create a ${mode} key; the operator creates the first one`,
    );
  }
  return {
    tenantId: caller.tenantId,
    name,
    mode,
    permission,
    domainId: domainId as ApiKeyRow['domainId'],
    requiresApproval,
    ...readKeyLimits(body, now),
  };
}
