/**
 * Opens the application in this process, as src/main.ts does, but without its workers. It has its own data directory, a
 * tenant with a test key and a live key, and a DNS without names, and it refuses every connection to another machine.
 */
import { rmSync } from 'node:fs';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import type { RunningAccounts } from '../../src/accounts/running-accounts.ts';
import { createApiServer } from '../../src/api.ts';
import { type App, openApp } from '../../src/app.ts';
import { inspectCertificates } from '../../src/certificates/certificates.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { createControlServer } from '../../src/control-socket.ts';
import { createDashboard } from '../../src/dashboard/app.tsx';
import type { Mode } from '../../src/db/tables.ts';
import type { HostedApp } from '../../src/http/transport/host-names.ts';
import type { HandOver } from '../../src/queue/contents/handed.ts';
import type { Sites } from '../../src/queue/shaping/site-calls.ts';
import type { ExplainWaiting } from '../../src/queue/waiting.ts';
import { createOverload } from '../../src/system/guards/overload.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import type { System } from '../../src/system/system.ts';
import { createApiKey, type NewKey } from '../../src/tenants/keys.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { ANY_TARGET } from './any-target.ts';
import { conforming } from './conformance.ts';
import { IDLE_LOAD } from './idle-guards.ts';
import { newDataDirectory } from './new-data-directory.ts';
import { zoneDns } from './zone-dns.ts';

export type TestAppOptions = {
  /** Parts of the system to replace, such as the clock, the DNS or `dial`. */
  system?: Partial<System>;
  /** Settings of the section `outbound`, for those that no variable can have. */
  outbound?: Partial<Config['outbound']>;
  /** `POSTRIDER_*` settings, which replace the defaults of tests. */
  env?: Record<string, string>;
  /** Says what due mail waits for. Without it, nothing does. */
  explainWaiting?: ExplainWaiting;
  /** Takes the texts of accepted mail. */
  handOver?: HandOver;
  /** The sites of the operator. Without them, nothing is being delivered. */
  sites?: Sites;
  /** Accounts of mailboxes; none are open by default. */
  accounts?: RunningAccounts;
};

export type TestRequest = {
  /** API key of the request, by default the test key. With null the request has no key. */
  key?: string | null;
  /** Value that is sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
};

export type TestResponse = {
  status: number;
  headers: Record<string, number | string | string[] | undefined>;
  /** The body as a value when it is JSON, and as text otherwise; '' when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
  body: any;
};

export type TestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** An open application. Disposing of it closes the application and removes its data. */
export type TestApp = AsyncDisposable & {
  app: App;
  /**
   * Returns the server with all routes, which is created when it is first needed, because it costs more than everything else of an
   * application.
   */
  openServer(): Promise<FastifyInstance>;
  /** Sends a request to it without a socket, and checks the response against the OpenAPI document. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
  dataDir: string;
  tenantId: Id<'ten'>;
  testKey: string;
  liveKey: string;
  /** Sends a request. The path includes `/v1`. */
  request(method: TestMethod, path: string, options?: TestRequest): Promise<TestResponse>;
  /** Adds a tenant, for tests of what tenants can see of each other. */
  addTenant(name: string): Promise<{ tenantId: Id<'ten'>; testKey: string; liveKey: string }>;
  /** Creates an API key of the first tenant and returns it. The default is a test key with full access. */
  newKey(fields: Partial<NewKey>): Promise<string>;
  close(): Promise<void>;
};

/** Opens the application. The caller closes it. */
export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = options.env?.['POSTRIDER_DATA_DIR'] ?? newDataDirectory();
  const loaded = loadConfig({
    env: {
      POSTRIDER_HOSTNAME: 'mx.postrider.example',
      POSTRIDER_LOG_LEVEL: 'silent',
      POSTRIDER_DATA_DIR: dataDir,
      ...options.env,
    },
  });
  const config = { ...loaded, outbound: { ...loaded.outbound, ...options.outbound } };
  const system = {
    dns: zoneDns(''),
    targets: ANY_TARGET,
    dial: refuseToConnect,
    fetch: refuseToConnect,
    statDisk: largeDisk,
    probeTls: async () => ({ kind: 'valid' as const }),
    ...options.system,
  };
  const opened = await openApp(config, system, { readers: 1 });
  const app = { ...opened, guards: withoutLoad(opened) };
  const certificates = inspectCertificates(app);
  const { sites } = options;
  let server: Promise<FastifyInstance> | undefined;
  let control: Promise<FastifyInstance> | undefined;
  const openServer = () =>
    (server ??= createApiServer(app, {
      ...(options.accounts && { accounts: options.accounts }),
      ...(options.explainWaiting && { explainWaiting: options.explainWaiting }),
      ...(options.handOver && { handOver: options.handOver }),
      operator: () => (control ??= createControlServer(app, { certificates, ...(sites && { sites }) })),
      openPages: (open, kind) => (kind === createDashboard ? openLater(open) : open()),
    }).then((created) => conforming(created)));
  const first = await addTenant(app, 'default');
  async function close() {
    await (await server)?.close();
    await (await control)?.close();
    await app[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return {
    app,
    openServer,
    inject: async (request) => (await openServer()).inject(request),
    dataDir,
    ...first,
    request: async (method, path, { key = first.testKey, body, headers = {} } = {}) =>
      send(await openServer(), { method, url: path, ...payload(body, headers, key) }),
    addTenant: (name) => addTenant(app, name),
    newKey: (fields) => newKey(app, { tenantId: first.tenantId, ...fields }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Returns an app that is made when the first request comes that may be to it. The routes of the dashboard take as long to make as all others
 * together, and most tests open none of its pages.
 */
function openLater(openPages: () => HostedApp): HostedApp {
  let opened: HostedApp | undefined;
  let isReady = false;
  const open = () => (opened ??= openPages());
  const app = {
    ready: async () => {},
    close: async () => opened?.app.close(),
    routing(...[request, response]: Parameters<FastifyInstance['routing']>) {
      const { app: pages } = open();
      if (isReady) return pages.routing(request, response);
      void pages.ready().then(() => {
        isReady = true;
        pages.routing(request, response);
      });
    },
  };
  // The path of an operation of the API, or of a foreign API, is no path of a page, under any name.
  const serves: HostedApp['serves'] = (hostName, path) =>
    !/^\/(?:v1|compat)\//.test(path) && open().serves(hostName, path);
  return { app: app as unknown as FastifyInstance, serves };
}

/**
 * Returns the guards of an app that never sheds requests because of load: a fake clock may jump while a write is pending,
 * which would count as a writer that is late by that much.
 */
function withoutLoad({ guards, disk }: App): App['guards'] {
  return { ...guards, overload: createOverload({ ...IDLE_LOAD, isDiskLow: () => disk.isBelowReserve }) };
}

/** Reports a disk with free space, since the disk of the test machine may be full. */
async function largeDisk() {
  return { freeBytes: 2 ** 40, totalBytes: 2 ** 41 };
}

function refuseToConnect(): Promise<never> {
  return Promise.reject(new Error('this test allows no connections; pass `dial` or `fetch`'));
}

async function addTenant(app: App, name: string) {
  const now = app.clock.now();
  const tenantId = newId('ten', now);
  await app.db.commit(insertTenant, { id: tenantId, name, plan: 'unlimited', createdAt: now });
  const keyFor = (mode: Mode) => newKey(app, { tenantId, name: `${mode} key`, mode });
  return { tenantId, testKey: await keyFor('test'), liveKey: await keyFor('live') };
}

async function newKey(app: App, fields: Pick<NewKey, 'tenantId'> & Partial<NewKey>): Promise<string> {
  const full = { name: 'key', mode: 'test', permission: 'full_access', expiresAt: null } as const;
  return (await createApiKey(app, { ...full, ...fields })).token;
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
