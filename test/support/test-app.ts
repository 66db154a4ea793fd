/**
 * The application as src/main.ts composes it, in this process and without its workers: a data directory of its own, a
 * tenant with a test key and a live key, a DNS without names, and no connections to other machines.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { createApiServer } from '../../src/api.ts';
import { type App, openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import type { Mode } from '../../src/db/tables.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import type { System } from '../../src/system/system.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { ANY_TARGET } from './any-target.ts';
import { conforming } from './conformance.ts';
import { zoneDns } from './zone-dns.ts';

export type TestAppOptions = {
  /** Parts of the world to replace: a fake clock, a zone, a dial. */
  system?: Partial<System>;
  /** `POSTRIDER_*` settings, over those of the test. */
  env?: Record<string, string>;
};

export type TestRequest = {
  /** Default: the test key. `null` sends none. */
  key?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
};

export type TestResponse = {
  status: number;
  headers: Record<string, number | string | string[] | undefined>;
  /** Parsed when it is JSON, text otherwise; '' when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: what an API answered is what the test is about to find out.
  body: any;
};

export type TestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Disposing of it closes it and removes its data. */
export type TestApp = AsyncDisposable & {
  app: App;
  /** Every route of the daemon; `inject` needs no socket, and checks the answer against the OpenAPI document. */
  server: FastifyInstance;
  dataDir: string;
  tenantId: Id<'ten'>;
  testKey: string;
  liveKey: string;
  /** `path` with `/v1`. */
  request(method: TestMethod, path: string, options?: TestRequest): Promise<TestResponse>;
  /** A second tenant, for what one must not see of the other. */
  addTenant(name: string): Promise<{ tenantId: Id<'ten'>; testKey: string; liveKey: string }>;
  close(): Promise<void>;
};

export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = options.env?.['POSTRIDER_DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'postrider-test-'));
  const config = loadConfig({
    env: {
      POSTRIDER_HOSTNAME: 'mx.postrider.example',
      POSTRIDER_LOG_LEVEL: 'silent',
      POSTRIDER_DATA_DIR: dataDir,
      ...options.env,
    },
  });
  const system = {
    dns: zoneDns(''),
    targets: ANY_TARGET,
    dial: noWayOut,
    fetch: noWayOut,
    statDisk: roomyDisk,
    ...options.system,
  };
  const app = await openApp(config, system, { readers: 1 });
  const server = conforming(await createApiServer(app));
  const first = await addTenant(app, 'default');
  async function close() {
    await server.close();
    await app[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return {
    app,
    server,
    dataDir,
    ...first,
    request: (method, path, { key = first.testKey, body, headers = {} } = {}) =>
      send(server, { method, url: path, ...payload(body, headers, key) }),
    addTenant: (name) => addTenant(app, name),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Reports a disk with free space, since the disk of the test machine may be full. */
async function roomyDisk() {
  return { freeBytes: 2 ** 40, totalBytes: 2 ** 41 };
}

function noWayOut(): Promise<never> {
  return Promise.reject(new Error('this test allows no connections; pass `dial` or `fetch`'));
}

async function addTenant(app: App, name: string) {
  const now = app.clock.now();
  const tenantId = newId('ten', now);
  await app.db.commit(insertTenant, { id: tenantId, name, plan: 'unlimited', createdAt: now });
  const keyFor = async (mode: Mode) => {
    const key = { tenantId, name: `${mode} key`, mode, permission: 'full_access', expiresAt: null } as const;
    return (await createApiKey(app, key)).token;
  };
  return { tenantId, testKey: await keyFor('test'), liveKey: await keyFor('live') };
}

function payload(
  body: unknown,
  headers: Record<string, string>,
  key: string | null,
): Pick<InjectOptions, 'headers' | 'payload'> {
  return {
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  };
}

async function send(
  server: FastifyInstance,
  request: InjectOptions & { method: TestMethod; url: string },
): Promise<TestResponse> {
  const response = await server.inject(request);
  return { status: response.statusCode, headers: response.headers, body: parse(response.body) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
