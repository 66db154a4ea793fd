/** Who is calling (specification 5): the bearer key, what it permits, and whose data it sees. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { ApiKeyRow, Mode, Permission } from '../db/tables.ts';
import { AppError } from '../system/errors.ts';
import { hashToken, readToken } from './keys.ts';
import { listApiKeysByHint, recordKeyUse } from './store.ts';

export type Caller = { tenantId: ApiKeyRow['tenantId']; mode: Mode; keyId: ApiKeyRow['id'] };

/** What a route asks of a key: `send` and `emails` are open to sending keys, `read` to all but those. */
export type Need = 'send' | 'emails' | 'read' | 'write';

declare module 'fastify' {
  interface FastifyContextConfig {
    needs?: Need;
  }
}

const PERMITS: Record<Permission, readonly Need[]> = {
  full_access: ['send', 'emails', 'read', 'write'],
  sending_access: ['send', 'emails'],
  read_only: ['emails', 'read'],
};

/** `lastUsedAt` is for people; once a minute for each key is enough. */
const USE_RECORDED_EVERY_MS = 60_000;
const MOST_AUTHORIZATION_CHARACTERS = 256;

const callers = new WeakMap<FastifyRequest, Caller>();

export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (!caller) throw new Error('the route is not behind requireApiKey');
  return caller;
}

/** Every route registered on `scope` after this needs a key; `config.needs` says for what (default `write`). */
export function requireApiKey(scope: FastifyInstance, app: Pick<App, 'db' | 'clock' | 'config'>): void {
  const recordedAt = new Map<string, number>();
  scope.addHook('onRequest', async (request) => {
    const key = await findKey(app, request.headers.authorization);
    const needs = request.routeOptions.config.needs ?? 'write';
    if (!PERMITS[key.permission].includes(needs)) {
      throw new AppError(
        'restricted_api_key',
        `This API key (${key.permission}) does not permit this request`,
      );
    }
    callers.set(request, { tenantId: key.tenantId, mode: key.mode, keyId: key.id });
    const now = app.clock.now();
    if (now - (recordedAt.get(key.id) ?? 0) >= USE_RECORDED_EVERY_MS) {
      recordedAt.set(key.id, now);
      app.db.note(recordKeyUse, { id: key.id, now });
    }
  });
}

async function findKey(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  authorization: string | undefined,
): Promise<ApiKeyRow> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (!authorization?.trim()) {
    throw new AppError('missing_api_key', 'Send your API key as "Authorization: Bearer <API_KEY>"');
  }
  const shape =
    token && authorization.length <= MOST_AUTHORIZATION_CHARACTERS ? readToken(app.config, token) : undefined;
  if (!token || !shape) throw invalidKey();
  const hash = Buffer.from(hashToken(token));
  const candidates = await listApiKeysByHint(app.db.read, shape.hint);
  const key = candidates.find((row) => timingSafeEqual(Buffer.from(row.tokenHash), hash));
  if (!key || key.mode !== shape.mode || key.revokedAt !== null) throw invalidKey();
  if (key.expiresAt !== null && key.expiresAt <= app.clock.now()) throw invalidKey();
  return key;
}

function invalidKey(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid');
}
