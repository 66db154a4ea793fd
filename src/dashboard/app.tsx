/**
 * The HTTP app of the dashboard. It answers only under the name of this installation, and under the names of this machine in development; never
 * under those of links and of tracked mail, whose pages belong to others.
 */
import type { FastifyReply } from 'fastify';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import { createEventTail } from '../events/tail.ts';
import { installationHosts } from '../host-names/purposes.ts';
import { renderPage } from '../http/pages/render.ts';
import { createPagesServer } from '../http/pages/server.tsx';
import { isLocalHost } from '../http/transport/channel.ts';
import type { HostedApp } from '../http/transport/host-names.ts';
import { asTransportRefusal, startRefusal } from '../http/transport/refusal.ts';
import type { Authenticate } from '../mailboxes/authenticate.ts';
import type { AppError } from '../system/errors.ts';
import { createDrafts } from './drafts/drafts.ts';
import { SAID } from './field-names.ts';
import { formatsOf } from './formats.ts';
import { type Assets, serveAssets } from './frame/assets.ts';
import { compressPages } from './frame/compress.ts';
import { Layout } from './frame/layout.tsx';
import { Why } from './frame/refusal.tsx';
import { LIVE_PATH, serveLive } from './live/route.ts';
import { OtherVersion } from './own-form.ts';
import { PAGES } from './pages.ts';
import { createMailboxRecovery } from './people/mailbox-recovery.ts';
import { createOpenId } from './people/openid.ts';
import { createPasskeys } from './people/passkeys.ts';
import { createPeople } from './people/people.ts';
import { pageHeaders } from './policy.ts';
import { routeOf } from './routes.ts';
import { sendRedirect } from './send-answer.tsx';
import { servePages } from './serve-pages.ts';
import { textsOf } from './texts/texts.ts';
import { VERSION_HEADER } from './version-header.ts';
import { LoginNeeded, languageOf, type Servers } from './viewer.ts';
import { holderOf, identifyVisitors, sessionOfRequest } from './visitors.ts';

/** Creates the app. `servers` are made after it, because they serve it. */
export function createDashboard(
  base: App & { servers: Servers; authenticate: Authenticate; accounts: RunningAccounts },
): HostedApp {
  const { config, guards } = base;
  const server = createPagesServer(base, {
    sendError: (error, reply) => sendError(base, { error, reply, assets }),
    bodies: guards.memory.uploads,
    trustedProxies: config.http.trustedProxies,
    unauthenticated: {
      limit: guards.visitors,
      isAuthenticated: (request) => sessionOfRequest(request) !== undefined,
    },
    holderOf,
  });
  const people = createPeople(base);
  identifyVisitors(server, { ...base, people });
  compressPages(server);
  const assets = serveAssets(server);
  const tail = createEventTail(base);
  const drafts = createDrafts(base);
  const recovery = createMailboxRecovery(base);
  server.addHook('onClose', () => recovery.settled());
  const served = {
    ...base,
    assets,
    people,
    tail,
    drafts,
    passkeys: createPasskeys(base),
    openId: createOpenId(base),
    recovery,
  };
  servePages(server, served, PAGES);
  serveLive(server, served);
  const hosts = installationHosts(config);
  return {
    app: server,
    serves: (hostName, path) => {
      const isOurs = hosts.get(hostName)?.includes('api') || isLocalHost(hostName);
      return isOurs === true && FIRST_SEGMENTS.has(path.split('/', 2)[1] ?? '');
    },
  };
}

/** First segments of the dashboard's paths. Everything else on the host belongs to the API. */
const FIRST_SEGMENTS: ReadonlySet<string> = new Set([
  'assets',
  LIVE_PATH.slice(1),
  ...PAGES.map((page) => routeOf(page).split('/', 2)[1] ?? ''),
]);

type Failure = { error: unknown; reply: FastifyReply; assets: Assets };

/** Sends an error as a page, or leads to the page to log in. */
function sendError(
  { config, log }: Pick<App, 'config' | 'log'>,
  { error, reply, assets }: Failure,
): FastifyReply {
  const { request } = reply;
  void reply.headers({ ...pageHeaders(request, config), [VERSION_HEADER]: assets.version() });
  if (error instanceof LoginNeeded) {
    const login = error.area === 'mailbox' ? '/mailbox/login' : '/login';
    const to = request.method === 'GET' ? request.url : error.draftAt;
    const query = new URLSearchParams();
    if (to !== undefined) query.set('to', to);
    if (error.draftAt !== undefined) query.set(SAID, 'draftKept');
    const address = query.size > 0 ? `${login}?${query}` : login;
    // htmx would show the page to log in as the part that it has asked for.
    if (request.headers['hx-request'] !== undefined)
      return reply.code(204).header('hx-redirect', address).send();
    return sendRedirect(reply, address);
  }
  const refusal = asTransportRefusal(error, 'a form');
  if (refusal) startRefusal(reply, refusal);
  else {
    log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'a page has failed');
    reply.code(500);
  }
  const language = languageOf(request);
  const texts = textsOf(language);
  const context = {
    texts,
    formats: formatsOf(language, 'UTC'),
    query: new URLSearchParams(),
    path: request.url,
  };
  const [title, message] =
    error instanceof OtherVersion
      ? [texts.frame.error.outdated, texts.frame.error.outdatedText]
      : wordsFor(texts, refusal);
  const html = renderPage(
    <Layout context={context} title={title} assets={assets} menu={[]}>
      <h1>{title}</h1>
      <p class="failure">
        {typeof message === 'string' ? message : <Why context={context} refusal={message} />}
      </p>
      <p>
        <a href="/">{texts.frame.error.home}</a>
      </p>
      {!refusal && <small>{texts.frame.error.request(request.id)}</small>}
    </Layout>,
  );
  return reply.type('text/html; charset=utf-8').send(html);
}

function wordsFor(
  { frame: { error } }: ReturnType<typeof textsOf>,
  refusal: AppError | undefined,
): readonly [title: string, text: string | AppError] {
  if (!refusal) return [error.title, error.internal];
  if (refusal.code === 'not_found') return [error.notFound, error.notFoundText];
  return [refusal.code === 'restricted_api_key' ? error.forbidden : error.title, refusal];
}
