/** The pages that the benchmark opens: each page of the route table that has something to show, and the lists anywhere and by their filters. */
import { PAGES } from '../../../src/dashboard/pages.ts';
import { routeOf } from '../../../src/dashboard/routes.ts';
import { newId } from '../../../src/system/ids.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { ask } from '../daemon.ts';
import { SENDER_DOMAIN } from '../message.ts';
import { emailAt, LAST_YEAR_MS, suppressedAt } from '../million-rows.ts';
import { type MillionStore, ROWS } from '../million-store.ts';

/** Kind of page, with a path that differs each time where it can. */
export type PageKind = { name: string; path: () => string };

/** Ids of what the pages with parameters show. */
type Samples = Record<
  'template' | 'webhook' | 'route' | 'topic' | 'segment' | 'broadcast' | 'domain' | 'key',
  string
>;

type Made = { id: string };

/** Makes one of everything that a page shows and that the million has not. */
async function makeSamples(daemon: DaemonProcess, { key, audienceId }: MillionStore): Promise<Samples> {
  const make = async (path: string, body: object) =>
    (await ask<Made>(daemon, ['POST', `/v1${path}`, key], body)).id;
  const first = async (path: string) =>
    (await ask<{ data: Made[] }>(daemon, ['GET', `/v1${path}`, key])).data[0]?.id ?? '';
  const html = '<p>Hello {{firstName|friend}}!</p><p><a href="{{{unsubscribe_url}}}">Unsubscribe</a></p>';
  const topic = await make('/topics', { name: 'News', defaultStatus: 'opt_out' }).catch(() =>
    first('/topics'),
  );
  return {
    topic,
    template: await make('/templates', { name: `Welcome ${Date.now()}`, subject: 'Welcome', html }),
    webhook: await make('/webhooks', {
      url: 'https://shop.example/webhooks/mail',
      events: ['email.delivered'],
    }),
    route: await make('/inbound/routes', {
      address: `support${Date.now()}@${SENDER_DOMAIN}`,
      destination: 'https://shop.example/inbound',
    }),
    segment: await make('/segments', {
      name: `Team ${Date.now()}`,
      audienceId,
      filter: { op: 'and', rules: [{ field: 'properties.plan', cmp: 'eq', value: 'team' }] },
    }),
    broadcast: await make('/broadcasts', {
      audienceId,
      from: `news@${SENDER_DOMAIN}`,
      subject: 'What is new, {{firstName|friend}}',
      html,
    }),
    domain: await first('/domains'),
    key: await first('/api-keys'),
  };
}

/** Returns every page without an id, as it is when it is opened. */
function pagesWithoutId(home: string): PageKind[] {
  const routes = PAGES.filter(({ area }) => area !== 'public' && area !== 'mailbox').map(routeOf);
  return routes
    .map((route) => route.replace('/t/:tenant/:mode', home))
    .filter((route) => !route.includes(':'))
    .map((route) => ({ name: route.replace(home, ''), path: () => route }));
}

/** Returns the kinds of pages, most of which read the million rows. `home` is the path of the overview of the tenant. */
export async function listPageKinds(
  daemon: DaemonProcess,
  store: MillionStore,
  home: string,
): Promise<PageKind[]> {
  const samples = await makeSamples(daemon, store);
  const at = (name: string, path: () => string): PageKind => ({
    name,
    path: () => `${home}${path()}`,
  });
  const page = (path: string) => at(path, () => path);
  const audience = `/audiences/${store.audienceId}`;
  const cursor = (prefix: 'em' | 'ct' | 'sup') =>
    `${Math.random() < 0.5 ? 'startingAfter' : 'endingBefore'}=${newId(prefix, anyTime(store))}`;
  const list = (path: string, prefix: 'em' | 'ct' | 'sup') => [
    at(`${path}, first page`, () => path),
    at(`${path}, anywhere`, () => `${path}?${cursor(prefix)}`),
    at(`${path}, last page`, () => `${path}?endingBefore=${newId(prefix, store.nowMs - 2 * LAST_YEAR_MS)}`),
  ];
  const filtered = (path: string, name: string, query: () => string) =>
    at(`${path}, ${name}`, () => `${path}?${query()}`);
  const found = (name: string, text: () => string) =>
    at(`search for ${name}`, () => `/search?${new URLSearchParams({ q: text() })}`);
  return [
    ...pagesWithoutId(home),
    ...list('/emails', 'em'),
    filtered('/emails', 'from half of all', () => `from=${emailAt(0).from.address}`),
    filtered('/emails', 'delivered, nearly all', () => 'status=delivered'),
    filtered('/emails', 'bounced', () => 'status=bounced'),
    filtered('/emails', 'to, twenty rows', () => `to=${some().to.address}`),
    filtered('/emails', 'tag of one row', () => `tag=order:${4 * Math.floor((Math.random() * ROWS) / 4)}`),
    filtered('/emails', 'nothing', () => 'from=nobody@nowhere.test'),
    filtered('/emails', 'two filters, nothing', () => `to=${suppressedAt(anyRow())}&status=bounced`),
    at('an email', () => `/emails/${oneOf(store.ids.emails)}`),
    at('attempts of an email', () => `/emails/${oneOf(store.ids.emails)}/attempts`),
    at('preview of an email', () => `/emails/${oneOf(store.ids.emails)}/preview`),
    page(`/templates/${samples.template}`),
    page(`/templates/${samples.template}/versions`),
    page(`/domains/${samples.domain}`),
    ...list('/suppressions', 'sup'),
    filtered('/suppressions', 'one', () => `email=${suppressedAt(anyRow())}`),
    filtered('/suppressions', 'two of three', () => 'reason=bounce'),
    filtered('/suppressions', 'nothing', () => 'reason=unsubscribe'),
    page(`/webhooks/${samples.webhook}`),
    page(`/webhooks/${samples.webhook}/deliveries`),
    page(`/keys/${samples.key}`),
    page(`/routes/${samples.route}`),
    page(`/broadcasts/${samples.broadcast}`),
    page(`/broadcasts/${samples.broadcast}/edit`),
    page(`/broadcasts/${samples.broadcast}/preview`),
    page(`/broadcasts/${samples.broadcast}/check`),
    page(`/broadcasts/${samples.broadcast}/recipients`),
    page(`/broadcasts/${samples.broadcast}/providers`),
    ...list(audience, 'ct'),
    filtered(audience, 'one', () => `email=reader${anyRow()}@d1.test`),
    filtered(audience, 'one of twenty', () => 'status=unsubscribed'),
    filtered(audience, 'nearly all', () => 'status=subscribed'),
    page(`${audience}/settings`),
    at('a contact', () => `${audience}/contacts/${oneOf(store.ids.contacts)}`),
    page(`${audience}/segments/new`),
    page(`/segments/${samples.segment}`),
    page(`/segments/${samples.segment}/contacts`),
    page(`/topics/${samples.topic}`),
    found('an email', () => oneOf(store.ids.emails)),
    found('an address', () => some().to.address),
    found('a sender', () => some().from.address),
    found('nobody', () => 'nobody@nowhere.test'),
    found('a domain', () => some().from.domain),
    found('a tag', () => `campaign:${some().tags['campaign']}`),
    found('a Message-ID', () => `<${oneOf(store.ids.emails)}@postrider.test>`),
    found('a foreign Message-ID', () => `<${anyRow()}@elsewhere.test>`),
    found('a page', () => 'suppressions'),
    found('a word of subjects', () => 'order'),
    found('a word of no subject', () => 'zebra crossing'),
    operatorPage('/operator/queue/mail?domain=d1.test'),
    operatorPage('/operator/queue/mail?domain=nowhere.test'),
    operatorPage('/operator/queue/mail?state=deferred'),
    operatorPage('/operator/queue/change?domain=d1.test'),
    operatorPage(`/operator/queue/change?tenant=${store.tenantId}`),
    operatorPage(`/operator/tenants/${store.tenantId}`),
  ];
}

function operatorPage(path: string): PageKind {
  return { name: path, path: () => path };
}

function anyRow(): number {
  return Math.floor(Math.random() * ROWS);
}

function some() {
  return emailAt(anyRow());
}

function anyTime({ nowMs }: MillionStore): number {
  return Math.floor(nowMs - Math.random() * LAST_YEAR_MS);
}

function oneOf(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? '';
}
