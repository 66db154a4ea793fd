/**
 * All resources of the API, one row for each, in an order in which each finds the resources that it belongs to. The suites
 * of changes, limits, lists, tenants and bad input read them, so a new resource needs a row here and its prefix in resource.ts.
 */
import { DOMAIN, exampleId, type Ids, type Prefix, type Resource, SANDBOX } from './resource.ts';

const DAY_MS = 24 * 3_600_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const UNSUBSCRIBE = '<a href="{{{unsubscribe_url}}}">Unsubscribe</a>';
const HOOK = 'https://receiver.example/hook';

const EMAIL = {
  cc: ['c@rcpt.example'],
  bcc: 'd@rcpt.example',
  replyTo: ['e@rcpt.example'],
  text: 'Hello',
  headers: { 'X-A': 'b' },
  attachments: [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain', contentId: 'a' }],
  scheduledAt: inDays(1),
  variables: { a: 'b' },
};
const ENVELOPE = {
  from: 'Ada <ada@a.example>',
  to: ['bob@rcpt.example'],
  subject: 'Hello',
  type: 'transactional',
};
const OF_TEMPLATE = { ...ENVELOPE, templateId: exampleId('tpl') };
const OF_TOPIC = { ...ENVELOPE, text: 'Hello', type: 'broadcast', topicId: exampleId('top') };
const OPT_IN = { from: `ada@${SANDBOX}`, templateId: exampleId('tpl') };
const choice = (subscription: string) => ({ topics: [{ id: exampleId('top'), subscription }] });
const RULES_OF_TOPIC = {
  filter: {
    op: 'or',
    rules: [
      { field: 'unsubscribed', cmp: 'eq', value: true },
      { op: 'and', rules: [{ field: `topics.${exampleId('top')}`, cmp: 'eq', value: true }] },
    ],
  },
};

const RESOURCES: Readonly<Record<Prefix, Resource>> = {
  dom: {
    nouns: ['domains'],
    path: '/v1/domains',
    body: ({ count }) => ({ name: `n${count}.example`, productType: 'mailbox' }),
    limit: { max: 1_000, table: 'domains', unique: (number) => ({ name: `row${number}.example` }) },
    change: () => ({ openTracking: true, clickTracking: true, productType: 'both', region: 'eu' }),
    linked: ['trackingSubdomain'],
    filters: { name: () => [DOMAIN] },
    richer: { updateDomain: { openTracking: true, productType: 'both', region: 'sg' } },
  },
  top: {
    nouns: ['topics'],
    path: '/v1/topics',
    body: () => ({ name: 'News', description: 'What is new', defaultOptIn: true }),
    limit: { max: 100, table: 'topics' },
    change: () => ({ name: 'Offers', description: null, defaultOptIn: false }),
    richer: { updateTopic: { name: 'News', defaultOptIn: false } },
  },
  tpl: {
    nouns: ['templates'],
    path: '/v1/templates',
    body: () => ({
      name: 'Letter',
      subject: 'Hello {{name|you}}',
      html: `<p>Hello {{name|you}}</p>{{confirm_url}}${UNSUBSCRIBE}`,
      text: 'Hello {{name|you}} {{confirm_url}} {{{unsubscribe_url}}}',
    }),
    limit: { max: 10_000, table: 'templates' },
    // The variables stay, which follow from the texts.
    change: () => ({
      name: 'Goodbye',
      subject: 'Bye {{name|you}}',
      html: `<p>{{confirm_url}}${UNSUBSCRIBE}`,
      text: null,
    }),
    filters: { name: () => ['Letter'] },
    named: {
      body: (name) => ({ name, subject: 's', html: '<p>' }),
      filters: { name: (name) => [name] },
      field: 'name',
    },
    richer: { updateTemplate: { name: 'Welcome', html: '<p>{{name|you}}</p>', text: '{{name}}' } },
  },
  tpv: {
    nouns: ['versions'],
    isKept: true,
    make: ({ ids, newestVersion }) => newestVersion(ids.tpl),
  },
  aud: {
    nouns: ['audiences'],
    path: '/v1/audiences',
    body: () => ({ name: 'Readers' }),
    limit: { max: 1_000, table: 'audiences' },
    change: ({ domain }) => ({
      name: '😀'.repeat(200),
      optIn: {
        from: `Ada <ada@${domain}>`,
        replyTo: 'a@b.example',
        subject: 'Hi',
        templateId: null,
        language: 'fr',
      },
    }),
    withIds: { createAudience: [{ optIn: OPT_IN }], updateAudience: [{ optIn: OPT_IN }] },
  },
  ct: {
    // The recipients of a broadcast are contacts.
    nouns: ['contacts', 'recipients'],
    path: '/v1/audiences/{audienceId}/contacts',
    body: ({ ids, count }) => ({
      email: `contact${count}@rcpt.example`,
      firstName: 'Ada',
      lastName: 'Lovelace',
      properties: { plan: 'pro' },
      topics: [{ id: ids.top, subscription: 'opt_in' }],
    }),
    change: () => ({ email: 'ada.b@a.example', firstName: null, lastName: 'Byron' }),
    linked: ['unsubscribed', 'properties', 'topics'],
    filters: { email: () => ['shared@rcpt.example'] },
    named: {
      body: (name) => ({ email: `${name}@rcpt.example`, properties: { word: name } }),
      filters: { email: (name) => [`${name}@rcpt.example`] },
      field: 'email',
    },
    richer: {
      createContact: choice('opt_in'),
      updateContact: { email: 'other@rcpt.example', firstName: 'Ada', lastName: null, ...choice('opt_in') },
    },
    withIds: {
      createContact: [{ email: 'chooser@rcpt.example', ...choice('opt_out') }],
      updateContact: [choice('opt_out')],
    },
  },
  seg: {
    nouns: ['segments'],
    path: '/v1/segments',
    body: ({ ids }) => ({
      name: 'Professionals',
      audienceId: ids.aud,
      filter: { op: 'and', rules: [{ field: 'properties.plan', cmp: 'eq', value: 'pro' }] },
    }),
    limit: { max: 1_000, table: 'segments', parents: ['aud'] },
    change: () => ({
      name: 'Others',
      filter: { op: 'and', rules: [{ field: 'lastName', cmp: 'exists' }] },
    }),
    filters: { audienceId: ({ ids }) => [ids.aud] },
    withIds: {
      createSegment: [RULES_OF_TOPIC],
      updateSegment: [RULES_OF_TOPIC],
      countSegment: [RULES_OF_TOPIC],
    },
  },
  sup: {
    nouns: ['suppressions'],
    path: '/v1/suppressions',
    body: ({ count }) => ({ email: `suppressed${count}@rcpt.example` }),
    filters: { email: () => ['shared@rcpt.example'] },
    named: {
      body: (name) => ({ email: `${name}@rcpt.example` }),
      filters: { email: (name) => [`${name}@rcpt.example`] },
      field: 'email',
    },
  },
  rt: {
    nouns: ['routes'],
    path: '/v1/inbound/routes',
    body: ({ count, addressDomain }) => ({
      address: `route${count}@${addressDomain}`,
      destination: 'https://receiver.example/in',
    }),
    limit: {
      max: 1_000,
      table: 'inboundRoutes',
      noun: 'inbound routes',
      unique: (number) => ({ address: `${number}@row.example` }),
    },
    change: ({ addressDomain }) => ({
      address: `other@${addressDomain}`,
      destination: 'https://b.example:8443/x?y=z',
    }),
    linked: ['enabled'],
    filters: { address: ({ ids }) => [`shared-${ids.aud}@${SANDBOX}`], domain: () => [SANDBOX] },
    named: {
      body: (name) => ({ address: `${name}@${SANDBOX}`, destination: 'https://a.example/' }),
      filters: { address: (name) => [`${name}@${SANDBOX}`] },
      field: 'address',
    },
    richer: {
      updateInboundRoute: { address: 'other@a.example', destination: 'https://receiver.example/other' },
    },
  },
  in: {
    nouns: ['messages'],
    path: '/v1/inbound/messages',
    isKept: true,
    // A test may disable the first route.
    make: async ({ ids, receive, make }) => receive([ids.rt, (await make('rt')).id]),
    filters: {
      address: () => ['sales@shop.example'],
      routeId: ({ ids }) => [ids.rt],
      from: () => ['ann@sender.example', 'sender.example'],
      messageId: () => ['made.by@client.example'],
    },
  },
  rep: { nouns: ['reports'], isKept: true, make: ({ report, ids }) => report(ids.dom) },
  wh: {
    nouns: ['webhooks'],
    path: '/v1/webhooks',
    isModal: true,
    body: () => ({ url: HOOK, events: ['email.queued'], description: 'Shop' }),
    limit: {
      max: 50,
      table: 'webhookEndpoints',
      noun: 'webhook endpoints (live and test together)',
      unique: (number) => ({ mode: number % 2 ? 'live' : 'test' }),
    },
    change: () => ({
      url: 'https://b.example/',
      events: ['email.sent', 'email.opened'],
      description: null,
    }),
    linked: ['status'],
    richer: {
      updateWebhookEndpoint: { url: 'https://b.example/', events: ['email.queued'], description: 'y' },
    },
    withIds: { createWebhookEndpoint: [{ domainId: exampleId('dom') }] },
  },
  em: {
    nouns: ['emails'],
    path: '/v1/emails',
    isKept: true,
    isModal: true,
    body: ({ domain, nowMs }) => ({
      from: `Ada <ada@${domain}>`,
      to: 'bob@rcpt.example',
      subject: 'Hello',
      text: 'Hello Bob',
      type: 'transactional',
      tags: { kind: 'greeting' },
      attachments: [{ filename: 'note.txt', content: 'SGVsbG8=' }],
      scheduledAt: new Date(nowMs + 30 * DAY_MS).toISOString(),
    }),
    filters: {
      from: () => [`ada@${DOMAIN}`, DOMAIN],
      to: () => ['bob@rcpt.example'],
      tag: () => ['kind:greeting'],
      messageId: ({ ids }) => [`${ids.em}@${DOMAIN}`],
      apiKeyId: ({ testKeyId }) => [testKeyId],
    },
    named: {
      body: (name, { domain }) => ({
        from: `${name}@${domain}`,
        to: `to-${name}@rcpt.example`,
        subject: 's',
        text: 't',
        type: 'transactional',
        tags: { word: name, [name]: 'key' },
      }),
      filters: {
        from: (name) => [`${name}@${DOMAIN}`],
        to: (name) => [`to-${name}@rcpt.example`],
        tag: (name) => [`word:${name}`, `${name}:key`],
      },
      field: 'from',
    },
    richer: {
      sendEmail: EMAIL,
      sendBatch: { emails: [{ ...ENVELOPE, html: '<p>', tags: { a: 'b' }, ...EMAIL }] },
      rescheduleEmail: { scheduledAt: inDays(2) },
    },
    withIds: {
      sendEmail: [{ ...OF_TEMPLATE, html: undefined }, OF_TOPIC],
      sendBatch: [{ emails: [OF_TEMPLATE] }, { emails: [OF_TOPIC] }],
    },
  },
  whd: {
    nouns: ['deliveries'],
    isKept: true,
    isModal: true,
    async make({ ids, make, newestDelivery }) {
      await make('em');
      return newestDelivery(ids.wh);
    },
  },
  brd: {
    nouns: ['broadcasts'],
    path: '/v1/broadcasts',
    isModal: true,
    body: ({ ids, domain }) => ({
      audienceId: ids.aud,
      topicId: ids.top,
      from: `Ada <ada@${domain}>`,
      subject: 'What is new',
      html: UNSUBSCRIBE,
      text: '{{{unsubscribe_url}}}',
      replyTo: 'a@b.example',
    }),
    change: ({ domain }) => ({
      from: `New <b@${domain}>`,
      subject: 'New',
      html: `<p>${UNSUBSCRIBE}`,
      text: null,
      replyTo: null,
      topicId: null,
      pace: { perHour: 500 },
    }),
    linked: ['audienceId', 'segmentId', 'templateId', 'scheduleAt'],
    filters: { audienceId: ({ ids }) => [ids.aud] },
    richer: {
      createBroadcast: { replyTo: 'answers@a.example', text: 'Hello {{{unsubscribe_url}}}' },
      testBroadcast: { contactId: exampleId('ct') },
    },
    withIds: {
      createBroadcast: [
        { audienceId: undefined, segmentId: exampleId('seg') },
        { html: undefined, templateId: exampleId('tpl') },
      ],
      updateBroadcast: [
        { audienceId: exampleId('aud'), topicId: exampleId('top') },
        { segmentId: exampleId('seg') },
        { segmentId: null, html: null, templateId: exampleId('tpl') },
      ],
      testBroadcast: [{ contactId: exampleId('ct') }],
    },
  },
  imp: {
    nouns: ['imports'],
    async make({ ids, postCsv, runJobs }) {
      const file = 'email,plan\r\nimported@rcpt.example,pro\r\nnobody,pro\r\n';
      const made = await postCsv(`/v1/audiences/${ids.aud}/contacts/imports`, file);
      await runJobs();
      return made;
    },
    filters: { audienceId: ({ ids }) => [ids.aud] },
  },
  exp: {
    nouns: ['exports'],
    async make({ ids, post, runJobs }) {
      const made = await post(`/v1/audiences/${ids.aud}/contacts/exports`, {});
      await runJobs();
      return made;
    },
    filters: { audienceId: ({ ids }) => [ids.aud] },
  },
  mbx: {
    nouns: ['mailboxes'],
    path: '/v1/mailboxes',
    body: ({ count, addressDomain }) => ({
      address: `person${count}@${addressDomain}`,
      displayName: 'Ann Lee',
      password: 'correct horse',
    }),
    limit: { max: 10_000, table: 'mailboxes', unique: (number) => ({ address: `${number}@row.example` }) },
    change: ({ addressDomain }) => ({
      displayName: null,
      passwordLogin: false,
      aliases: [`role@${addressDomain}`],
      vacation: { text: 'Away' },
      forwardTo: ['bob@other.example'],
      keepCopy: false,
      rules: [{ conditions: [], fileInto: 'All' }],
      quotaBytes: 5_000_000_000,
      status: 'suspended',
      timeZone: 'Europe/Berlin',
      disabledCapabilities: ['BINARY', 'IDLE'],
    }),
    linked: ['members', 'password', 'scramLogin'],
    filters: { address: ({ ids }) => [`person-${ids.aud}@${SANDBOX}`], domain: () => [SANDBOX] },
    named: {
      body: (name) => ({ address: `${name}@${SANDBOX}`, password: 'correct horse' }),
      filters: { address: (name) => [`${name}@${SANDBOX}`] },
      field: 'address',
    },
    richer: {
      createMailbox: {
        password: 'correct horse',
        passwordLogin: true,
        scramLogin: true,
        quotaBytes: 1_000_000,
        disabledCapabilities: ['IDLE'],
        aliases: [`b@${SANDBOX}`],
      },
      updateMailbox: {
        displayName: 'Ann',
        aliases: [`c@${SANDBOX}`],
        password: 'correct horse',
        passwordLogin: false,
        scramLogin: false,
        status: 'suspended',
        disabledCapabilities: [],
      },
    },
  },
  apw: {
    nouns: ['app-passwords'],
    path: '/v1/mailboxes/{mailboxId}/app-passwords',
    body: () => ({ name: 'Phone' }),
    limit: {
      max: 50,
      table: 'appPasswords',
      noun: 'app passwords for this mailbox',
      parents: ['mbx'],
      unique: (number) => ({ hint: String(number).padStart(8, '0') }),
    },
  },
  mim: {
    nouns: ['mailboxes/imports'],
    path: '/v1/mailboxes/{mailboxId}/imports',
    body: () => ({ host: 'imap.example.com', user: 'ann@example.com', password: 'correct horse' }),
    limit: { max: 50, table: 'mailboxImports', noun: 'imports for this mailbox', parents: ['mbx'] },
  },
  key: {
    nouns: ['api-keys'],
    path: '/v1/api-keys',
    isModal: true,
    body: () => ({ name: 'reader', permission: 'read_only' }),
  },
  req: {
    nouns: ['request-log'],
    isKept: true,
    isModal: true,
    make: ({ ids, requested }) => requested(ids.key),
    filters: { keyId: ({ ids }) => [ids.key], path: () => ['/v1/'] },
  },
  apr: {
    nouns: ['approvals'],
    path: '/v1/approvals',
    isKept: true,
    isModal: true,
    make: ({ askForApproval }) => askForApproval(),
    filters: { state: () => ['pending'] },
  },
};

export const PREFIXES = Object.keys(RESOURCES) as readonly Prefix[];
/** The rows with their prefixes. */
export const ROWS: readonly (Resource & { prefix: Prefix })[] = PREFIXES.map((prefix) => ({
  prefix,
  ...RESOURCES[prefix],
}));

/** Returns the row of a kind of resources. */
export function rowOf(prefix: Prefix): Resource {
  return RESOURCES[prefix];
}

const BY_NOUN = new Map(ROWS.flatMap(({ nouns, prefix }) => nouns.map((noun) => [noun, prefix] as const)));

/**
 * Returns the prefix of the ids that follow the noun in a path.
 * @throws Error for a noun that no row has
 */
export function prefixOf(noun: string, path: string): Prefix {
  const [first = ''] = path.match(/(?<=^\/(?:v1\/)?)(?!v1\/)[\w-]+/) ?? [];
  const prefix = BY_NOUN.get(`${first}/${noun}`) ?? BY_NOUN.get(noun);
  if (prefix !== undefined) return prefix;
  throw new Error(`no resource has the noun "${noun}" of ${path}`);
}

/** Returns a path in which the tenant's ids stand for the parameters. */
export function fillPath(path: string, ids: Ids): string {
  return path.replace(/([\w-]+)\/\{\w+\}/g, (_, noun: string) => `${noun}/${ids[prefixOf(noun, path)]}`);
}
