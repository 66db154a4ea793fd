/** Creates one resource of each kind through the API. A named resource has the same name in each tenant. */
import type { Prefix } from './operations.ts';

export type Made = { id: string };
export type Wanted = {
  /** Ids of the tenant's resources, to which the new one belongs. */
  ids: Readonly<Record<Prefix, string>>;
  /** A number that is different for each created resource. */
  count: number;
  post(path: string, body: unknown): Promise<Made>;
  /** Posts a CSV file. */
  postCsv(path: string, file: string): Promise<Made>;
  /** Creates the deliveries of recorded events, and returns the newest one of this endpoint. */
  newestDelivery(endpointId: string): Promise<Made>;
  /** Receives a message for these routes. */
  receive(routeIds: readonly string[]): Promise<Made>;
  /** Receives a report about this domain. */
  report(domainId: string): Promise<Made>;
  /** Runs the queued imports and exports. */
  runJobs(): Promise<void>;
};

/** Domain that each tenant has and has verified. */
export const DOMAIN = 'post.example';
/** Routes are at the sandbox domain, because only one of the tenants receives the mail of `DOMAIN`. */
export const SANDBOX = 'sandbox.mx.postrider.example';
const DAY_MS = 24 * 3_600_000;

/** Functions that create the resources, in an order in which each finds the resources that it belongs to. */
export const MAKERS: Readonly<Record<Prefix, (wanted: Wanted) => Promise<Made>>> = {
  dom: ({ post, count }) => post('/v1/domains', { name: `n${count}.example` }),
  top: ({ post }) => post('/v1/topics', { name: 'News', description: 'What is new' }),
  tpl: ({ post }) =>
    post('/v1/templates', {
      name: 'Letter',
      subject: 'Hello {{name|you}}',
      html: '<p>Hello {{name|you}}</p>{{confirm_url}}<a href="{{{unsubscribe_url}}}">Unsubscribe</a>',
    }),
  aud: ({ post }) => post('/v1/audiences', { name: 'Readers' }),
  ct: ({ post, ids, count }) =>
    post(`/v1/audiences/${ids.aud}/contacts`, {
      email: `contact${count}@rcpt.example`,
      properties: { plan: 'pro' },
      topics: [{ id: ids.top, subscription: 'opt_in' }],
    }),
  seg: ({ post, ids }) =>
    post('/v1/segments', {
      ...{ name: 'Professionals', audienceId: ids.aud },
      filter: { op: 'and', rules: [{ field: 'properties.plan', cmp: 'eq', value: 'pro' }] },
    }),
  sup: ({ post, count }) => post('/v1/suppressions', { email: `suppressed${count}@rcpt.example` }),
  rt: ({ post, count }) =>
    post('/v1/inbound/routes', {
      ...{ address: `route${count}@${SANDBOX}`, destination: 'https://receiver.example/in' },
    }),
  // A test may disable the first one.
  in: async (wanted) => wanted.receive([wanted.ids.rt, (await MAKERS.rt(wanted)).id]),
  rep: ({ report, ids }) => report(ids.dom),
  wh: ({ post }) => post('/v1/webhooks', { url: 'https://receiver.example/hook', events: ['email.queued'] }),
  em: ({ post }) =>
    post('/v1/emails', {
      ...{ from: `Ada <ada@${DOMAIN}>`, to: 'bob@rcpt.example', subject: 'Hello', text: 'Hello Bob' },
      ...{ type: 'transactional', tags: { kind: 'greeting' } },
      scheduledAt: new Date(Date.now() + 30 * DAY_MS).toISOString(),
    }),
  whd: async (wanted) => {
    await MAKERS.em(wanted);
    return wanted.newestDelivery(wanted.ids.wh);
  },
  brd: ({ post, ids }) =>
    post('/v1/broadcasts', {
      ...{ audienceId: ids.aud, topicId: ids.top, from: `Ada <ada@${DOMAIN}>`, subject: 'What is new' },
      html: '<a href="{{{unsubscribe_url}}}">Unsubscribe</a>',
    }),
  imp: async ({ postCsv, runJobs, ids }) => {
    const file = 'email,plan\r\nimported@rcpt.example,pro\r\nnobody,pro\r\n';
    const made = await postCsv(`/v1/audiences/${ids.aud}/contacts/imports`, file);
    await runJobs();
    return made;
  },
  exp: async ({ post, runJobs, ids }) => {
    const made = await post(`/v1/audiences/${ids.aud}/contacts/exports`, {});
    await runJobs();
    return made;
  },
  mbx: ({ post, count }) =>
    post('/v1/mailboxes', { address: `person${count}@${SANDBOX}`, password: 'correct horse' }),
  apw: ({ post, ids }) => post(`/v1/mailboxes/${ids.mbx}/app-passwords`, { name: 'Phone' }),
  mim: ({ post, ids }) =>
    post(`/v1/mailboxes/${ids.mbx}/imports`, {
      host: 'imap.example.com',
      user: 'ann@example.com',
      password: 'correct horse',
    }),
  key: ({ post }) => post('/v1/api-keys', { name: 'reader', permission: 'read_only' }),
};
