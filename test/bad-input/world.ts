/**
 * Both doors of the daemon, and one who knocks with anything: every answer is held to what answers owe their callers. The
 * public routes are those of the document; those of the operator are listed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { createControlServer } from '../../src/control-socket.ts';
import { createLog } from '../../src/system/log.ts';
import { type ApiOperation, findDelete, type Schema } from '../support/resources/operations.ts';
import { fill, openPopulated, type Populated, pathOf } from '../support/resources/populated.ts';
import type { Prefix } from '../support/resources/resource.ts';
import { PREFIXES, ROWS } from '../support/resources/resources.ts';
import type { TestMethod } from '../support/test-app.ts';

export const SEED = 20_260_301;

export type Api = 'public' | 'admin';
export type Problem = {
  id?: unknown;
  error?: { type?: string; message?: string; param?: string; requestId?: string };
};
export type Answer = { status: number; body: Problem; text: string };
export type RawRequest = {
  method: TestMethod;
  url: string;
  payload?: string | Buffer;
  headers?: Record<string, string>;
};

export type Route = {
  /** For people: the ids of its path are left out. */
  name: string;
  api: Api;
  method: TestMethod;
  url: string;
  valid: Record<string, unknown>;
  schema?: Schema;
  /** Statuses of what is accepted. */
  successes: readonly number[];
  /** `fields`: none of them is required. `body`: not even a body is. */
  mayLack?: 'fields' | 'body';
  /** `__proto__` is a name like any other. */
  anyKey?: boolean;
  /** Answers of each item what is wrong with it. */
  isBatch?: boolean;
};

/** A path as it is around an id, and what is asked there. */
export type ItemRoute = {
  api: Api;
  method: TestMethod;
  before: string;
  after: string;
  /** That of the ids which are found there. */
  prefix: Prefix;
  payload?: string;
  type?: string;
};

export type BadInput = {
  populated: Populated;
  /** Sends, and holds the answer to what every answer owes its caller. */
  ask(api: Api, request: RawRequest): Promise<Answer>;
  routes: readonly Route[];
  itemRoutes: readonly ItemRoute[];
  /** What is got, with the parameters it knows. */
  gets: readonly { api: Api; url: string; parameters: readonly string[] }[];
  close(): Promise<void>;
};

export async function openBadInput(): Promise<BadInput> {
  /** What was logged as an error during the last request: a failure tells why. */
  const logged: unknown[] = [];
  const log = createLog('silent');
  log.error = (...args: unknown[]) => void logged.push(args);
  log.fatal = log.error;
  const populated = await openPopulated({ log });
  const { testApp, operations, owner } = populated;
  const admin = await createControlServer(testApp.app);
  await admin.ready();
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'));

  async function ask(api: Api, { method, url, payload, headers = {} }: RawRequest): Promise<Answer> {
    const server = api === 'public' ? testApp : admin;
    logged.length = 0;
    const response = await server.inject({
      method,
      url,
      headers: {
        ...(api === 'public' && { authorization: `Bearer ${owner.keys.test}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    } satisfies InjectOptions);
    const { statusCode: status, body: text } = response;
    const sent = String(payload?.slice(0, 300));
    const about = `${method} ${url.slice(0, 200)} ${sent} -> ${status} ${text.slice(0, 300)}`;
    assert.ok(status < 500, `${about} ${String(JSON.stringify(logged, errorText)).slice(0, 2_000)}`);
    assert.match(String(response.headers['x-request-id']), /^req_/, about);
    const body = isJson(response.headers['content-type']) ? (JSON.parse(text) as Problem) : {};
    if (status >= 400) {
      assert.match(body.error?.type ?? '', /^[a-z_]+$/, about);
      assert.notEqual(body.error?.message ?? '', '', about);
      assert.equal(body.error?.requestId, response.headers['x-request-id'], about);
    } else {
      // A field of its own of jobs and deliveries, and null as long as they succeed.
      assert.equal(body.error ?? undefined, undefined, about);
      if (api === 'public' && method === 'POST') await takeBack(body);
    }
    return { status, body, text };
  }

  /** So that no tenant ever has as many of anything as it may. */
  async function takeBack(made: Problem): Promise<void> {
    const id = typeof made.id === 'string' ? made.id : '';
    const prefix = PREFIXES.find((one) => id.startsWith(`${one}_`));
    if (prefix === undefined || Object.values(owner.ids).includes(id)) return;
    if (prefix === 'exp') database.prepare('DELETE FROM jobs WHERE id = ?').run(id);
    if (prefix === 'imp') await populated.runJobs(owner);
    const remove = findDelete(operations, prefix);
    if (remove) await ask('public', { method: 'DELETE', url: pathOf(remove, owner, { id }) });
  }

  return {
    ...{ populated, ask },
    routes: [...operations.flatMap((one) => publicRoute(one, populated)), ...ADMIN_ROUTES],
    itemRoutes: [...operations.flatMap((one) => itemRoutesOf(one, populated)), ADMIN_ITEM],
    gets: [
      ...operations
        .filter(({ method }) => method === 'GET')
        .map((one) => ({
          ...{
            api: 'public' as const,
            url: pathOf(one, owner),
            parameters: one.query.map(({ name }) => name),
          },
        })),
      ...OTHER_GETS,
    ],
    async close() {
      database.close();
      await admin.close();
      await populated.close();
    },
  };
}

/** 400 for the body of a route; accepted values may be accepted. */
export function mayRefuse({ status }: Answer, about: string): void {
  assert.ok([200, 201, 202, 400, 404, 409, 422].includes(status), `${status} ${about}`);
}

export function run<Values extends unknown[]>(property: fc.IAsyncProperty<Values>, numRuns: number) {
  return fc.assert(property, { seed: SEED, numRuns });
}

function isJson(type: unknown): boolean {
  return String(type).startsWith('application/json');
}

function errorText(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.stack : value;
}

/** The names of properties are the caller's own. */
const ANY_KEY = ['createContact', 'updateContact'];
/** The import of the example has ended, which is an answer to a body that is right. */
const OF_WAITING = ['previewWaitingImport', 'startImport'];
const BATCHES = ['sendBatch', 'createSuppressions', 'deleteSuppressions'];

function publicRoute(operation: ApiOperation, { owner }: Populated): Route[] {
  const { name, method, body } = operation;
  const successes = OF_WAITING.includes(name) ? [...operation.successes, 409] : operation.successes;
  if (body?.type !== 'application/json') return [];
  const { schema, isRequired } = body;
  const isLoose = (schema.required ?? []).length === 0;
  return [
    {
      ...{
        name: `${method} ${operation.path}`,
        api: 'public',
        method,
        url: pathOf(operation, owner),
        schema,
        successes,
      },
      valid: fill(Object.assign({}, body.example, ...ROWS.map(({ richer }) => richer?.[name])), owner),
      ...(isLoose && { mayLack: isRequired ? 'fields' : 'body' }),
      ...{ anyKey: ANY_KEY.includes(name), isBatch: BATCHES.includes(name) },
    },
  ];
}

/** One for each id in the path, the others being the owner's. */
function itemRoutesOf(operation: ApiOperation, { owner }: Populated): ItemRoute[] {
  const { method, body } = operation;
  const example = body && fill(body.example, owner);
  const payload = typeof example === 'string' ? example : JSON.stringify(example);
  return operation.ids.map(({ name, prefix }) => {
    const [before = '', after = ''] = pathOf(operation, owner, { [name]: '{}' }).split('{}');
    return { api: 'public', method, before, after, prefix, ...(body && { payload, type: body.type }) };
  });
}

const ADMIN_ROUTES: readonly Route[] = [
  {
    ...{ name: 'POST /tenants', api: 'admin', method: 'POST', url: '/tenants', successes: [201] },
    valid: { name: 'a', plan: 'unlimited' },
  },
  {
    ...{ name: 'PUT /plans', api: 'admin', method: 'PUT', url: '/plans', successes: [200] },
    valid: { name: 'p', monthlyEmails: 1, requestsPerSecond: 1, storedMegabytes: 1, weight: 1 },
  },
  {
    ...{ name: 'POST /keys', api: 'admin', method: 'POST', url: '/keys', successes: [201] },
    valid: {
      tenant: 'default',
      name: 'k',
      mode: 'test',
      permission: 'read_only',
      expiresAt: '2030-01-31T12:00:00Z',
    },
  },
];

const ADMIN_ITEM: ItemRoute = { api: 'admin', method: 'DELETE', before: '/keys/', after: '', prefix: 'key' };

const OTHER_GETS = [
  { api: 'public', url: '/v1/openapi.json', parameters: [] },
  { api: 'public', url: '/healthz', parameters: [] },
  { api: 'admin', url: '/tenants', parameters: [] },
  { api: 'admin', url: '/plans', parameters: [] },
  { api: 'admin', url: '/keys', parameters: ['tenant'] },
] as const satisfies readonly BadInput['gets'][number][];
