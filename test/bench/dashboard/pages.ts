/** The pages that the benchmark opens: each page of the route table that has something to show, and the lists anywhere and by their filters. */
import type { PageDefinition } from '../../../src/dashboard/page.ts';
import { PAGES } from '../../../src/dashboard/pages.ts';
import { routeOf } from '../../../src/dashboard/routes.ts';
import { newId } from '../../../src/system/ids.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { ask, HOSTNAME } from '../daemon.ts';
import { SENDER_DOMAIN } from '../message.ts';
import { emailAt, LAST_YEAR_MS, suppressedAt } from '../million-rows.ts';
import { type MillionStore, ROWS } from '../million-store.ts';
import { logInMailbox, type Open, type Opened, type Person } from './person.ts';

/** Kind of page. Its path differs each time where it can. */
export type PageKind = { name: string; open: () => Promise<Opened> };

/** Ids of what the pages with parameters show, and the owner of a mailbox. */
type Samples = Record<
  | 'template'
  | 'webhook'
  | 'route'
  | 'topic'
  | 'segment'
  | 'broadcast'
  | 'domain'
  | 'key'
  | 'mailbox'
  | 'contactImport'
  | 'contactExport'
  | 'suppressionImport',
  string
> & { openAsOwner: Open };

type Made = { id: string };

const PASSWORD = 'correct horse battery';

/** Makes one of everything that a page shows and that the million has not. */
async function makeSamples(daemon: DaemonProcess, { key, audienceId }: MillionStore): Promise<Samples> {
  const make = async (path: string, body: object) =>
    (await ask<Made>(daemon, ['POST', `/v1${path}`, key], body)).id;
  const importFile = async (path: string) => (await sendFile(daemon, `/v1${path}`, key)).id;
  const first = async (path: string) =>
    (await ask<{ data: Made[] }>(daemon, ['GET', `/v1${path}`, key])).data[0]?.id ?? '';
  const html = '<p>Hello {{firstName|friend}}!</p><p><a href="{{{unsubscribe_url}}}">Unsubscribe</a></p>';
  const topic = await make('/topics', { name: 'News', defaultStatus: 'opt_out' }).catch(() =>
    first('/topics'),
  );
  const address = `owner${Date.now()}@sandbox.${HOSTNAME}`;
  const mailbox = await make('/mailboxes', { address, password: PASSWORD });
  const segment = await make('/segments', {
    name: `Team ${Date.now()}`,
    audienceId,
    filter: { op: 'and', rules: [{ field: 'properties.plan', cmp: 'eq', value: 'team' }] },
  });
  return {
    topic,
    mailbox,
    openAsOwner: await logInMailbox(daemon, { address, password: PASSWORD }),
    contactImport: await importFile(`/audiences/${audienceId}/contacts/imports`),
    contactExport: await make(`/audiences/${audienceId}/contacts/exports`, { segmentId: segment }),
    suppressionImport: await importFile('/suppressions/imports'),
    template: await make('/templates', { name: `Welcome ${Date.now()}`, subject: 'Welcome', html }),
    webhook: await makeWebhook(daemon, key),
    route: await make('/inbound/routes', {
      address: `support${Date.now()}@${SENDER_DOMAIN}`,
      destination: 'https://shop.example/inbound',
    }),
    segment,
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

/** Makes an endpoint that gets nothing: posts that fail would disturb what is measured beside the pages. */
async function makeWebhook(daemon: DaemonProcess, key: string): Promise<string> {
  const endpoint = { url: 'https://shop.example/webhooks/mail', events: ['email.delivered'] };
  const { id } = await ask<Made>(daemon, ['POST', '/v1/webhooks', key], endpoint);
  await ask(daemon, ['PATCH', `/v1/webhooks/${id}`, key], { status: 'disabled' });
  return id;
}

async function sendFile({ address }: DaemonProcess, path: string, key: string): Promise<Made> {
  const response = await fetch(address + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv' },
    body: `email\r\nnew${Date.now()}@rcpt.test\r\nnobody\r\n`,
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status} ${await response.text()}`);
  return (await response.json()) as Made;
}

/** Returns the pages without an id of some areas, as they are when they are opened. */
function pagesWithoutId(isMeasured: (page: PageDefinition) => boolean): string[] {
  return PAGES.filter(isMeasured)
    .map(routeOf)
    .filter((route) => !route.replace('/t/:tenant/:mode', '').includes(':'));
}

/** Returns the kinds of pages, most of which read the million rows. */
export async function listPageKinds(
  daemon: DaemonProcess,
  store: MillionStore,
  { path: home, open }: Person,
): Promise<PageKind[]> {
  const samples = await makeSamples(daemon, store);
  const at = (name: string, path: () => string): PageKind => ({
    name,
    open: () => open(`${home}${path()}`),
  });
  const page = (path: string) => at(withoutIds(path), () => path);
  const operatorPage = (path: string): PageKind => ({ name: withoutIds(path), open: () => open(path) });
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
  const ofPerson = pagesWithoutId(({ area }) => area !== 'public' && area !== 'mailbox').map((route) =>
    route.startsWith('/t/') ? page(route.replace('/t/:tenant/:mode', '')) : operatorPage(route),
  );
  const ofMailbox = pagesWithoutId(({ area }) => area === 'mailbox').map(
    (path): PageKind => ({ name: path, open: () => samples.openAsOwner(path) }),
  );
  return [
    ...ofPerson,
    ...ofMailbox,
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
    page(`/mailboxes/${samples.mailbox}`),
    page(`/mailboxes/${samples.mailbox}/imports`),
    page(`/imports/${samples.contactImport}`),
    page(`/exports/${samples.contactExport}`),
    page(`/suppressions/imports/${samples.suppressionImport}`),
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

/** Returns a path without its ids and tokens, as pages are named. */
export function withoutIds(path: string): string {
  return path.replace(/_\w{26}/g, '').replace(/\/[\w-]{43}$/, '');
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
