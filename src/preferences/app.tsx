/**
 * The app of the public pages, which links in mail lead to (RFC 8058). It has no keys, cookies or scripts, and memory of
 * its own. It answers while the API refuses requests because of overload: somebody who unsubscribes must succeed.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { ALL_TOPICS, type Choices } from '../audiences/choices-store.ts';
import { choicesOfLeaving, decide } from '../audiences/contacts/decide.ts';
import { BRANDING_PATH } from '../branding/paths.ts';
import { findBranding } from '../branding/store.ts';
import { installationHosts } from '../host-names/purposes.ts';
import type { Form } from '../http/pages/form-body.ts';
import { renderPage } from '../http/pages/render.ts';
import { createPagesServer } from '../http/pages/server.tsx';
import type { HostedApp } from '../http/transport/host-names.ts';
import { CONFIRM_PATH, createLinks, UNSUBSCRIBE_PATH } from '../links/links.ts';
import type { Subscription } from '../links/unsubscribe-token.ts';
import { notFound } from '../system/errors.ts';
import { findTopic } from '../topics/store.ts';
import { createRecorder } from '../tracking/engagements/recorder.ts';
import { createTrackingHosts } from '../tracking/links/hosts.ts';
import { CLICK_PATH, OPEN_PATH } from '../tracking/links/instrument.ts';
import { isTracked, keepToTracking, registerTrackingPages } from '../tracking/pages.ts';
import { serveAssets } from './assets.ts';
import { type PagesApp, serveConfirmation } from './confirmation.tsx';
import { showError } from './error-page.tsx';
import { FORM_ROUTE, PAGE_HEADERS, unreadableForm } from './form-route.ts';
import { chooseLanguage } from './language.ts';
import { maskAddress } from './mask-address.ts';
import { ACTION, type Outcome, PreferencesPage, TOPIC, TOPICS } from './preferences-page.tsx';
import { hasLeft, listTopicChoices } from './store.ts';
import { STYLESHEET_PATH } from './stylesheet.ts';

type Route = { Params: { token: string }; Querystring: Record<string, unknown> };

/** Creates the app, which is served for the hosts of the links: as a whole, or for its paths alone on a host that also serves the API. */
export function createPreferencesApp(base: App): HostedApp {
  const hosts = createTrackingHosts(base);
  const recorder = createRecorder(base);
  const app = { ...base, hosts, recorder, links: createLinks(base) };
  const server = createPagesServer(app, {
    bodies: app.guards.memory.pages,
    trustedProxies: app.config.http.trustedProxies,
    unauthenticated: { limit: app.guards.visitors, isAuthenticated: (request) => isTracked(app, request) },
    errorPage: showError,
  });
  server.addHook('onReady', () => hosts.load());
  server.addHook('onClose', () => recorder.flush());
  // Tracking hosts show the page for broken links too, which loads its stylesheet from them.
  keepToTracking(server, hosts, [STYLESHEET_PATH]);
  registerTrackingPages(server, app);
  serveAssets(server, app);
  const path = `${UNSUBSCRIBE_PATH}/:token`;
  server.get<Route>(path, async (request, reply) => {
    const subscription = requireSubscription(app, request.params.token);
    const outcome = (await hasLeft(app.db.read, subscription)) ? 'already-left' : 'asked';
    return show(app, { request, reply }, { subscription, outcome, hasTopics: TOPICS in request.query });
  });
  server.post<Route & { Body?: Form }>(path, FORM_ROUTE, async (request, reply) => {
    const subscription = requireSubscription(app, request.params.token);
    const { outcome: wanted, choices } = readForm(request.body, subscription);
    const outcome = await afterLeaving(app, subscription, wanted);
    await decide(app, { ...subscription, choices: await choices(app) });
    return show(app, { request, reply }, { subscription, outcome, hasTopics: true });
  });
  serveConfirmation(server, app);
  const ownHosts = installationHosts(app.config);
  return {
    app: server,
    serves(hostName, path) {
      const purposes = ownHosts.get(hostName);
      if (!purposes) return hosts.has(hostName);
      if (!purposes.includes('pages')) return false;
      return !purposes.includes('api') || isPagePath(path);
    },
  };
}

const PAGE_PATHS = [UNSUBSCRIBE_PATH, CONFIRM_PATH, OPEN_PATH, CLICK_PATH, BRANDING_PATH].map(
  (path) => `${path}/`,
);

/** Returns true for the paths of the pages, none of which the API has. */
function isPagePath(path: string): boolean {
  return path === STYLESHEET_PATH || PAGE_PATHS.some((start) => path.startsWith(start));
}

/**
 * Returns the subscription of a token.
 * @throws AppError not_found
 */
function requireSubscription({ links }: PagesApp, token: string): Subscription {
  const subscription = links.openUnsubscribeToken(token);
  if (!subscription) throw notFound('Page');
  return subscription;
}

/** A decision that a form asks for. `choices` may need the topics of the tenant. */
type Wanted = { outcome: Outcome; choices: (app: PagesApp) => Promise<Choices> };

/** Returns the outcome of a decision: somebody who leaves once more is told so. It is called before the decision is stored. */
async function afterLeaving({ db }: PagesApp, subscription: Subscription, wanted: Outcome): Promise<Outcome> {
  if (wanted !== 'left-topic' && wanted !== 'left-all') return wanted;
  const { topicId, ...all } = subscription;
  const left = wanted === 'left-topic' ? subscription : { ...all, topicId: undefined };
  if (!(await hasLeft(db.read, left))) return wanted;
  return wanted === 'left-topic' || topicId === undefined ? 'already-left' : 'already-left-all';
}

/**
 * Reads a form: the one-click request of a mail program (RFC 8058 section 3.2), or a button of the page. Some mail programs send the request
 * without its body.
 *
 * @throws AppError validation_error
 */
function readForm(form: Form | undefined, subscription: Subscription): Wanted {
  // A line end behind the value is no part of it.
  const named = form?.values('List-Unsubscribe').map((value) => value.trim());
  const isOneClick = !form || form.isEmpty || named?.includes('One-Click');
  const action = isOneClick ? 'unsubscribe' : form.values(ACTION)[0];
  const { topicId } = subscription;
  switch (action) {
    case 'unsubscribe':
      return {
        outcome: topicId === undefined ? 'left-all' : 'left-topic',
        choices: async () => choicesOfLeaving(topicId),
      };
    case 'leave':
      return { outcome: 'left-all', choices: async () => choicesOfLeaving(undefined) };
    case 'return': {
      const choices = { [ALL_TOPICS]: true, ...(topicId !== undefined && { [topicId]: true }) };
      return { outcome: 'returned', choices: async () => choices };
    }
    case 'save': {
      const wanted = new Set(form?.values(TOPIC));
      return { outcome: 'saved', choices: (app) => chosenTopics(app, subscription, wanted) };
    }
    default:
      throw unreadableForm();
  }
}

/** Returns a choice for each topic of the tenant. Somebody who chooses a topic no longer leaves all mail. */
async function chosenTopics(
  { db }: PagesApp,
  subscription: Subscription,
  wanted: ReadonlySet<string>,
): Promise<Choices> {
  const topics = await listTopicChoices(db.read, subscription);
  const choices = Object.fromEntries(topics.map(({ id }) => [id, wanted.has(id)]));
  return topics.some(({ id }) => wanted.has(id)) ? { ...choices, [ALL_TOPICS]: true } : choices;
}

type Exchange = { request: FastifyRequest; reply: FastifyReply };

async function show(
  { db }: PagesApp,
  { request, reply }: Exchange,
  { subscription, outcome, hasTopics }: { subscription: Subscription; outcome: Outcome; hasTopics: boolean },
): Promise<FastifyReply> {
  const { tenantId, topicId } = subscription;
  const topic = topicId === undefined ? undefined : await findTopic(db.read, tenantId, topicId);
  // The first page names one topic alone, because programs that check links open it. A link on it leads to all topics.
  const topics = hasTopics ? await listTopicChoices(db.read, subscription) : undefined;
  const page = (
    <PreferencesPage
      language={chooseLanguage(request.headers['accept-language'])}
      branding={await findBranding(db.read, tenantId)}
      address={maskAddress(subscription.address)}
      topic={topic?.name}
      outcome={outcome}
      topics={topics}
    />
  );
  return reply.headers(PAGE_HEADERS).send(renderPage(page));
}
