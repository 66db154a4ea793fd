/** The public HTTP API: the routes of every feature under /v1, which require a key, and the routes that need none. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noAccounts, type RunningAccounts } from './accounts/running-accounts.ts';
import type { App } from './app.ts';
import { createScans } from './audiences/segments/scan.ts';
import { createBrandingReader } from './branding/change.ts';
import type { Certificates } from './certificates/certificates.ts';
import { serveChallenges } from './certificates/serve-challenges.ts';
import type { Config } from './config/config.ts';
import { documentationFolder, readDataFile } from './data-files.ts';
import { BEYOND_APPROVAL, DOMAIN_REACH, entriesOf } from './features.ts';
import { collectOperations, type Operations } from './http/json/collect-operations.ts';
import type { SomeHeaders } from './http/json/openapi/answers.ts';
import type { ApiDescription } from './http/json/openapi.ts';
import { serveDocument } from './http/json/serve-document.ts';
import { createHttpServer } from './http/json/server.ts';
import { serveGuide } from './http/pages/guide.tsx';
import { serveReferencePage } from './http/pages/reference-page.tsx';
import { type DeliverySigns, serveHealth, type VitalSigns } from './http/transport/health.ts';
import type { HostedApp } from './http/transport/host-names.ts';
import { listenHttp } from './http/transport/listen.ts';
import { serveMetrics } from './http/transport/metrics.ts';
import type { HttpOptions } from './http/transport/server.ts';
import { shedWrites } from './http/transport/shed.ts';
import { createMessageParser } from './mail/message/parse/parser.ts';
import { type Authenticate, createAuthenticator } from './mailboxes/authenticate.ts';
import { type HandOver, handNothing } from './queue/contents/handed.ts';
import { type ExplainWaiting, nothingWaits } from './queue/waiting.ts';
import { createRequestRecord } from './request-log/api.ts';
import { createContents } from './routes/messages/content.ts';
import { routeCalls as postToRoutes, type RouteCalls } from './routes/post/part.ts';
import { notFound } from './system/errors.ts';
import type { Listener } from './system/listen.ts';
import { limitUnapprovedKeys } from './tenants/approval-limit.ts';
import { createKeyRequirement, findPlannedCaller } from './tenants/authenticate.ts';
import { limitKeysByReach } from './tenants/domain-reach.ts';
import { saysQuota, showQuota } from './tenants/quota-headers.ts';
import { VERSION } from './version.ts';
import { describeEvents } from './webhooks/describe-events.ts';
import { webhookCalls as postWebhooks, type WebhookCalls } from './webhooks/part.ts';

type ApiOptions = Partial<Pick<HttpOptions, 'responses'>> & {
  /** Calls of the part that posts webhooks. Without it, posts for tests of endpoints are made in this thread. */
  webhookCalls?: WebhookCalls;
  /** Calls of the part that posts to routes. Without it, posts for tests of routes are made in this thread. */
  routeCalls?: RouteCalls;
  /** Accounts of mailboxes that are open. Without it, none is. */
  accounts?: RunningAccounts;
  /** Checks passwords of mailboxes. Without it, this server counts failures alone. */
  authenticate?: Authenticate;
  /** Returns true when every thread of the daemon runs. */
  doThreadsRun?: () => boolean;
  /** Returns the server of the operator, whose operations the dashboard uses. Without it, the dashboard has no pages of the operator. */
  operator?: () => FastifyInstance | Promise<FastifyInstance>;
  /** Opens the pages of a feature, which the function `kind` creates. Tests open costly ones when the first page is requested. */
  openPages?: (open: () => HostedApp, kind: unknown) => HostedApp;
  /** Answers to challenges of an authority. Without them, this server answers none. */
  challenges?: Pick<Certificates['challenges'], 'answerHttp'>;
  /** Says what due mail waits for. Without it, nothing is delivered by this process. */
  explainWaiting?: ExplainWaiting;
  /** Hands the texts of accepted mail to those who deliver it. Without it, nothing is delivered by this process. */
  handOver?: HandOver;
  /** Returns how the delivery of mail goes. Without it, nothing is delivered by this process. */
  readDelivery?: () => DeliverySigns;
};

function noOperator(): never {
  throw notFound('Page');
}

const IDLE: DeliverySigns = { oldestDueMs: 0, deliversNothing: false, failsDns: false };

/** Creates the server of the API, which does not listen yet. `responses` bounds the responses; tests lower it. */
export async function createApiServer(
  app: App,
  {
    webhookCalls = postWebhooks(app),
    routeCalls = postToRoutes(app),
    accounts = noAccounts,
    authenticate = createAuthenticator(app),
    doThreadsRun = () => true,
    readDelivery = () => IDLE,
    explainWaiting = nothingWaits,
    handOver = handNothing,
    challenges,
    operator = noOperator,
    openPages = (open) => open(),
    ...limits
  }: ApiOptions = {},
): Promise<FastifyInstance> {
  const bodies = app.guards.memory.api;
  // The dashboard is a client of the server that serves it.
  const servers = { api: (): FastifyInstance => server, operator };
  const server: FastifyInstance = await createHttpServer(app, describeApi(app.config), {
    metrics: app.metrics,
    bodies,
    holderOf,
    trustedProxies: app.config.http.trustedProxies,
    hosted: entriesOf('pages').map((create) =>
      openPages(() => create({ ...app, servers, authenticate, accounts }), create),
    ),
    problemShapes: entriesOf('foreignApis').filter((api) => api.isOn(app)),
    ...limits,
    unauthenticated: {
      limit: app.guards.unauthenticated,
      isAuthenticated: (request) => !!findPlannedCaller(request),
    },
  });
  if (app.config.http.metrics) serveMetrics(server, app.metrics, 'local');
  app.metrics.gauge(
    'disk_free_bytes',
    'Free space on the disk of the data directory.',
    () => app.disk.freeBytes ?? 0,
  );
  serveHealth(server, VERSION, () => vitalSigns(app, doThreadsRun(), readDelivery()));
  if (challenges) serveChallenges(server, app.config, challenges);
  serveDocument(server, '/v1/openapi.json');
  serveReferencePage(server, 'Postrider API');
  serveGuide(server, 'Postrider documentation', documentationFolder());
  const parts = createParts(server, app, { webhookCalls, routeCalls, accounts, explainWaiting, handOver });
  for (const register of entriesOf('publicRoutes')) register(server, parts);
  await registerOperations(server, parts);
  await server.ready();
  return server;
}

/** Returns everything that the routes of some feature need. */
function createParts(
  server: FastifyInstance,
  app: App,
  given: Required<
    Pick<ApiOptions, 'webhookCalls' | 'routeCalls' | 'accounts' | 'explainWaiting' | 'handOver'>
  >,
) {
  const parser = createMessageParser(app, app.htmlText);
  server.addHook('onClose', () => parser.close());
  return {
    ...app,
    ...given,
    server,
    bodies: app.guards.memory.api,
    contents: createContents({ ...app, parser }),
    scans: createScans(app),
    brandings: createBrandingReader(app),
    requestRecord: createRequestRecord(app, server),
    requireApiKey: createKeyRequirement(app),
  };
}

/** Registers the operations under /v1, and the APIs of other products that reach them. All of them share the limits of a key. */
async function registerOperations(
  server: FastifyInstance,
  parts: ReturnType<typeof createParts>,
): Promise<void> {
  const limitKeys = (scope: FastifyInstance) => {
    parts.requireApiKey(scope);
    limitKeysByReach(scope, DOMAIN_REACH);
    limitUnapprovedKeys(scope, BEYOND_APPROVAL);
    showQuota(scope, parts);
    shedWrites(scope, { overload: parts.guards.overload, metrics: parts.metrics });
    parts.requestRecord.recordFrom(scope);
  };
  const register = (prefix: string, routes: (scope: FastifyInstance) => void) =>
    server.register(
      (scope, _options, done) => {
        limitKeys(scope);
        routes(scope);
        done();
      },
      { prefix },
    );
  let operations: Operations = new Map();
  await register('/v1', (v1) => {
    operations = collectOperations(v1);
    for (const registerRoutes of entriesOf('routes')) registerRoutes(v1, parts);
  });
  for (const api of entriesOf('foreignApis'))
    if (api.isOn(parts)) await register(api.prefix, (scope) => api.register(scope, parts, operations));
}

/**
 * Starts serving the API at `http.address` and `http.port`.
 * @throws ListenError
 */
export async function openApi(app: App, server: FastifyInstance): Promise<Listener> {
  const { address, port, trustedProxies } = app.config.http;
  return await listenHttp(app, server, { section: 'http', at: { address, port }, trustedProxies });
}

/** Describes the API as a whole for the OpenAPI document. */
function describeApi({ hostname }: Pick<Config, 'hostname'>): ApiDescription {
  return {
    title: 'Postrider',
    description: ABOUT,
    version: VERSION,
    license: { name: 'MIT', identifier: 'MIT' },
    contact: { name: 'the operator of this server', email: `postmaster@${domainOf(hostname)}` },
    tags: TAGS,
    headers: QUOTA_HEADERS,
    codeSamples: () => readDataFile('code-samples.json') as Record<string, unknown>,
    webhooks: describeEvents(),
  };
}

/**
 * Returns the domain of the postmaster, whom every host that sends mail has (RFC 2142 section 5). A host name without a dot, such as that of
 * a development machine, is no domain of a mail address, so the reserved domain for names that lead nowhere follows it.
 */
function domainOf(hostname: string): string {
  return hostname.includes('.') ? hostname : `${hostname}.invalid`;
}

const ABOUT = `Send email over HTTP, follow its delivery, and manage domains, templates, audiences and webhooks.

Every request carries an API key as \`Authorization: Bearer <key>\`. Test keys (\`svc_dev_\`) do everything that live keys \
(\`svc_prd_\`) do, except that nothing is delivered.

Emails, broadcasts, webhook endpoints and API keys belong to the mode of the key, live or test. Everything else is shared by both modes, \
but a test key changes inbound routes and mailboxes at the sandbox domain alone.

For a key that is limited to one domain, nothing of other domains exists. Templates, topics, audiences, contacts, segments and suppressions are shared by all domains.

Requests and responses are JSON. Unknown fields are ignored, but misspelled ones, such as \`reply_to\` for \`replyTo\`, are refused. \
Times are ISO 8601 in UTC. Ids are opaque; their prefix names the kind of resource. Every error has the same body, with a \`type\` for programs.

Lists begin with the newest item. To get the next page, send \`nextCursor\` as \`startingAfter\`.

Each operation shows its call with curl and with the libraries for Node.js, Python, Go and PHP. Their clients read \`SERVICE_API_KEY\` and \
\`SERVICE_BASE_URL\`; [client libraries](docs/guide/client-libraries) shows how one is made.`;

/** Groups of routes, in the order of specification 4. */
const TAGS: readonly { name: string; description: string }[] = [
  {
    name: 'Emails',
    description: 'Send emails, alone or in batches, now or later, and follow their delivery.',
  },
  {
    name: 'Domains',
    description: 'The domains that you send from, and the DNS records that prove that you own them.',
  },
  { name: 'Templates', description: 'Stored subjects and bodies with `{{variables}}`.' },
  {
    name: 'Broadcasts',
    description:
      'One email for all contacts of an audience or a segment, as a draft, at once or at a given time, with its progress.',
  },
  { name: 'Segments', description: 'Saved filters over the contacts of an audience.' },
  { name: 'Audiences', description: 'Lists of contacts.' },
  {
    name: 'Contacts',
    description: 'The people of an audience, with their properties and their choices of topics.',
  },
  { name: 'Topics', description: 'Kinds of mail that contacts can subscribe to or opt out of.' },
  { name: 'Suppressions', description: 'Addresses that receive no mail.' },
  {
    name: 'Inbound routes',
    description: 'Endpoints to which the mail of your domains is posted.',
  },
  {
    name: 'Inbound messages',
    description: 'The mail that arrived for your routes, and the log of its posts.',
  },
  {
    name: 'Mailboxes',
    description: 'Mailboxes of people at your domains, which mail programs read by IMAP.',
  },
  {
    name: 'Mailbox messages',
    description:
      'The mail in one mailbox, for a program that acts for its owner: reading, searching, marks and drafts. It needs an API key of this mailbox, which its owner or the operator makes.',
  },
  { name: 'Webhooks', description: 'Endpoints that events are posted to, and the log of those posts.' },
  {
    name: 'Imports',
    description: 'Jobs that read CSV files. The routes of contacts and suppressions accept the files.',
  },
  {
    name: 'Exports',
    description: 'Jobs that write CSV files. The routes of contacts and suppressions start them.',
  },
  {
    name: 'Sandbox',
    description: 'The simulator, which answers test mail, with a reply of your choice.',
  },
  { name: 'Request log', description: 'The last requests that your keys have made.' },
  { name: 'Metrics', description: 'What became of your mail, by hour or by day.' },
  {
    name: 'Branding',
    description: 'Name, colours and logo that the public pages show to your readers.',
  },
  {
    name: 'Approvals',
    description:
      'Mail of keys that require approval: what waits until a person decides, and what was decided.',
  },
  { name: 'API keys', description: 'Keys for programs, each with its permissions and limits.' },
  { name: 'Plan', description: 'The limits of the tenant, and how much of them is used.' },
];

const ONLY_LIMITED = 'Present only for a live key of a plan with a limit.';
const QUOTA_HEADERS: SomeHeaders = {
  name: 'Quota',
  says: {
    'X-Quota-Limit': `Maximum number of emails per month. ${ONLY_LIMITED}`,
    'X-Quota-Remaining': `Number of emails left this month. ${ONLY_LIMITED}`,
    'X-Quota-Reset': `Time until the next month begins, in seconds. ${ONLY_LIMITED}`,
  },
  isOn: saysQuota,
};

/**
 * Returns the owner of a request's body in the byte budget: the tenant, or the client address when the request has no
 * valid key.
 */
function holderOf(request: FastifyRequest): string {
  return findPlannedCaller(request)?.caller.tenantId ?? request.clientAddress;
}

function vitalSigns(
  { db, disk, clockWatch }: Pick<App, 'db' | 'disk' | 'clockWatch'>,
  doThreadsRun: boolean,
  delivery: DeliverySigns,
): VitalSigns {
  return {
    ...delivery,
    doThreadsRun,
    writerLagMs: db.lagMs,
    writerSilentMs: db.writerSilentMs,
    readerSilentMs: db.readerSilentMs,
    isDiskFull: disk.isFull,
    isDiskBelowReserve: disk.isBelowReserve,
    clockBehindMs: clockWatch.behindMs,
  };
}
