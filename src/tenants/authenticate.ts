/**
 * Authenticates requests (specification 5): it finds the bearer key, limits its requests, and checks its permission,
 * its tenant and its domain. A request that a page of the dashboard makes has a person in the place of a key.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify';
import type { App } from '../app.ts';
import type { PersonRow } from '../db/people-tables.ts';
import type { Mode } from '../db/tables.ts';
import type { ApiKeyRow, PlanRow, RequiredApproval } from '../db/tenant-tables.ts';
import { chargeAddress } from '../http/transport/address-limit.ts';
import { AppError } from '../system/errors.ts';
import {
  createUseRecord,
  getValidKey,
  invalidKey,
  type Need,
  requireNeed,
  requirePeer,
  requireSameApproval,
} from './key-access.ts';
import { createKnownKeys, type KnownKeys } from './known-keys.ts';
import { createRateLimit, requireAllowance } from './rate-limit.ts';
import type { PlannedKey } from './store.ts';

export type Caller = {
  tenantId: ApiKeyRow['tenantId'];
  mode: Mode;
  /** The key; null when the dashboard has asked, for a person or for the owner of a mailbox. */
  keyId: ApiKeyRow['id'] | null;
  /** The person, as the dashboard has authenticated it; null when a key or the owner of a mailbox has asked. */
  personId: PersonRow['id'] | null;
  /** The one domain that the key is limited to; null when it reaches its whole tenant. */
  domainId: ApiKeyRow['domainId'];
  /** The one mailbox whose messages the key reaches, and nothing else; null for every other caller. */
  mailboxId: ApiKeyRow['mailboxId'];
  approval: ApprovalNeed | null;
};

/** Where a caller acts, whoever it is. */
export type CallerScope = Omit<Caller, 'keyId' | 'personId' | 'mailboxId'>;

/** The mail of a caller that waits until a person approves it, and the key that asks; null when none waits. */
type ApprovalNeed = { keyId: ApiKeyRow['id']; covers: RequiredApproval };

/** The reach of a caller of the API: its tenant, or the one domain of it that its key is limited to (domains/reach.ts). */
export type Reach = Pick<Caller, 'tenantId' | 'domainId'>;

const callerField = Symbol('caller');

/**
 * A person as the caller of the API, or the owner of a mailbox, whose `personId` is null. `permission` follows from the role of the person.
 */
export type PersonCaller = Pick<Caller, 'tenantId' | 'mode' | 'personId'> & {
  permission: ApiKeyRow['permission'];
};

/** People by their raw requests. Only requests that are made in this process are in it. */
const people = new WeakMap<IncomingMessage, PersonCaller>();

/** Makes a request in this process (http/transport/in-process.ts) one of a person. The caller has authenticated the person. */
export function actAsPerson(raw: IncomingMessage, person: PersonCaller): void {
  people.set(raw, person);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    needs?: Need;
  }
  interface FastifyRequest {
    /**
     * The caller is a field of the request: entries of a WeakMap survive scavenges, and would keep the whole request
     * in memory.
     */
    [callerField]: PlannedCaller | undefined;
  }
}

/** Maximum length of the header field with a key. Keys are much shorter. */
const MAX_AUTHORIZATION_CHARACTERS = 256;

type PlannedCaller = {
  caller: Caller;
  plan: Pick<PlanRow, 'monthlyEmails' | 'requestsPerSecond'>;
  key: Pick<
    ApiKeyRow,
    'permission' | 'domainId' | 'mailboxId' | 'allowedIps' | 'expiresAt' | 'requiresApproval'
  >;
  requireValidKey: RequireValidKey;
};

/**
 * Checks again that the key of a request is neither revoked nor expired. It costs no query unless a key has changed.
 *
 * @throws AppError invalid_api_key
 */
export type RequireValidKey = () => Promise<void> | undefined;

/** Returns the authenticated caller of a request. */
export function callerOf(request: FastifyRequest): Caller {
  return plannedCallerOf(request).caller;
}

/** Returns what the authenticated caller of a request reaches. */
export function reachOf(request: FastifyRequest): Reach {
  const { tenantId, domainId } = callerOf(request);
  return { tenantId, domainId };
}

/** Returns true when the key is limited: in its permission, its domain, its mailbox, its addresses, its lifetime, or by approval. */
export function hasLimits(request: FastifyRequest): boolean {
  const { permission, ...limits } = plannedCallerOf(request).key;
  const { domainId, mailboxId, allowedIps, expiresAt, requiresApproval } = limits;
  const isLimited = [domainId, mailboxId, allowedIps, expiresAt, requiresApproval].some(
    (limit) => limit !== null,
  );
  return permission !== 'full_access' || isLimited;
}

/** Returns the check for work that continues after the body has arrived. The caller runs it right before its commit. */
export function keyCheckOf(request: FastifyRequest): RequireValidKey {
  return plannedCallerOf(request).requireValidKey;
}

function plannedCallerOf(request: FastifyRequest): PlannedCaller {
  const known = request[callerField];
  if (!known) throw new Error('the route is not behind a key requirement');
  return known;
}

/** Returns the caller with its plan, or undefined when the request had no valid key. */
export function findPlannedCaller(request: FastifyRequest): PlannedCaller | undefined {
  return request[callerField];
}

/**
 * Returns the function that makes every route registered on a scope afterwards require a key. `config.needs` sets the permission
 * (default: `read` for GET requests, else `write`). Requests of tenants whose plan limits them are counted here, before any further
 * work; requests whose key is refused count towards their address. All scopes share the known keys and the counts.
 */
export function createKeyRequirement(
  app: Pick<App, 'db' | 'clock' | 'config' | 'wakeups' | 'guards'>,
): (scope: FastifyInstance) => void {
  const recordUse = createUseRecord(app);
  const knownKeys = createKnownKeys(app);
  const rateLimit = createRateLimit(app.guards.tenants);
  const identify = async ({ headers, clientAddress }: FastifyRequest) => {
    const key = await findKey(app, knownKeys, headers.authorization);
    // The address is checked before the request is counted, so that a leaked key cannot use up its owner's rate
    // limit.
    requirePeer(key, clientAddress);
    return key;
  };
  const recognise = async (request: FastifyRequest, reply: FastifyReply) => {
    const person = people.get(request.raw);
    if (person) {
      request[callerField] = plannedPerson(person);
      return person;
    }
    const { authorization } = request.headers;
    // The moment is read before the lookup, so that a change during the lookup counts as a change.
    const foundAt = knownKeys.moment();
    const key = await identify(request).catch((error: unknown) => {
      // A request for an unknown route has not been counted yet. It is counted when it is refused.
      if (error instanceof AppError && !request.is404) chargeAddress(app.guards.unauthenticated, request);
      throw error;
    });
    const { tenantId, requestsPerSecond, monthlyEmails } = key;
    request[callerField] = {
      caller: callerWith(key),
      plan: { requestsPerSecond, monthlyEmails },
      key,
      requireValidKey() {
        const isExpired = key.expiresAt !== null && key.expiresAt <= app.clock.now();
        if (!isExpired && knownKeys.isCurrent(foundAt)) return undefined;
        return findKey(app, knownKeys, authorization).then((found) => requireSameApproval(key, found));
      },
    };
    if (requestsPerSecond !== null) {
      requireAllowance(reply, rateLimit.take(tenantId, requestsPerSecond));
    }
    return key;
  };
  return (scope) => {
    scope.decorateRequest(callerField, undefined);
    scope.addHook('onClose', async () => knownKeys.close());
    // With this handler, requests for unknown routes pass these hooks too; http/transport/server.ts refuses them before it is
    // called.
    scope.setNotFoundHandler(() => {});
    scope.addHook('onRequest', async (request, reply) => {
      if (request.is404) return void (await recognise(request, reply).catch(unlessRefusedKey));
      const key = await recognise(request, reply);
      const needs = request.routeOptions.config.needs ?? (isRead(request) ? 'read' : 'write');
      requireNeed(key, needs);
      if ('id' in key) recordUse(key);
    });
    scope.addHook('preHandler', requireValidKeyForWrites);
  };
}

/** Returns a person as a caller without the limits of keys. Its quota is still counted when an email is accepted. */
function plannedPerson({ tenantId, mode, personId, permission }: PersonCaller): PlannedCaller {
  return {
    caller: { tenantId, mode, keyId: null, personId, domainId: null, mailboxId: null, approval: null },
    plan: { requestsPerSecond: null, monthlyEmails: null },
    key: {
      permission,
      domainId: null,
      mailboxId: null,
      allowedIps: null,
      expiresAt: null,
      requiresApproval: null,
    },
    // The dashboard has read the session of the person right before, and the request arrives whole.
    requireValidKey: () => undefined,
  };
}

/**
 * Checks the key again after the body, which may take minutes to arrive. A key that was revoked or has expired by
 * then must not change anything.
 */
const requireValidKeyForWrites: preHandlerHookHandler = (request, _reply, done) => {
  const check = isRead(request) ? undefined : plannedCallerOf(request).requireValidKey();
  if (check === undefined) return done();
  check.then(() => done(), done);
};

/** Ignores a refused key on an unknown route, which answers 404 for every key. The rate limit still applies. */
function unlessRefusedKey(error: unknown): void {
  if (!(error instanceof AppError) || error.code === 'rate_limited') throw error;
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns the caller that uses a key. */
export function callerWith({
  id: keyId,
  tenantId,
  mode,
  domainId,
  mailboxId,
  requiresApproval,
}: ApiKeyRow): Caller {
  const approval = requiresApproval === null ? null : { keyId, covers: requiresApproval };
  return { tenantId, mode, keyId, personId: null, domainId, mailboxId, approval };
}

async function findKey(
  app: Pick<App, 'clock' | 'config'>,
  knownKeys: KnownKeys,
  authorization: string | undefined,
): Promise<PlannedKey> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (!authorization?.trim()) {
    throw new AppError('missing_api_key', 'Send your API key as "Authorization: Bearer <API_KEY>"');
  }
  if (!token || authorization.length > MAX_AUTHORIZATION_CHARACTERS) throw invalidKey();
  return getValidKey(app, knownKeys, token);
}
