/** How SQLite reads the page of each list: it walks one index within the bounds of the page, and sorts nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listApprovals } from '../src/approvals/store.ts';
import { type ContactFilter, listContacts } from '../src/audiences/contacts/store.ts';
import { listSegments } from '../src/audiences/segments/store.ts';
import { listBroadcasts } from '../src/broadcasts/store.ts';
import type { Tx } from '../src/db/operation.ts';
import type { PageRequest } from '../src/db/page.ts';
import { listJobs } from '../src/jobs/store.ts';
import { listMailboxes } from '../src/mailboxes/store.ts';
import { listRequests, type RequestFilter } from '../src/request-log/store.ts';
import { listSuppressions, type SuppressionFilter } from '../src/suppressions/store.ts';
import { listTemplates } from '../src/templates/store.ts';
import { listVersions } from '../src/templates/versions-store.ts';
import { listKeysInUse } from '../src/tenants/store.ts';
import { listTopics } from '../src/topics/store.ts';
import { explain } from './support/explain.ts';

const [tenantId, audienceId] = ['ten_1', 'aud_1'] as const;
const reach = { tenantId, domainId: null } as const;
const owner = { ...reach, mode: 'live' } as const;
const [from, until] = ['x_1', 'x_3'] as const;
const PAGES: readonly Omit<PageRequest, 'limit'>[] = [
  {},
  { startingAfter: 'x_2' },
  { endingBefore: 'x_2' },
  { from, until },
  { from, until, startingAfter: 'x_2' },
  { from, until, endingBefore: 'x_2' },
];

type List = (tx: Tx, page: PageRequest) => Promise<unknown>;

const broadcasts =
  (filter: object): List =>
  (tx, page) =>
    listBroadcasts(tx, owner, { ...page, ...filter });
const contacts =
  (filter: ContactFilter): List =>
  (tx, page) =>
    listContacts(tx, tenantId, { audienceId, ...page, ...filter });
const jobs =
  (filter: object): List =>
  (tx, page) =>
    listJobs(tx, reach, { type: 'import', ...page, ...filter });
const suppressions =
  (filter: SuppressionFilter): List =>
  (tx, page) =>
    listSuppressions(tx, tenantId, { ...page, ...filter });

const requests =
  (filter: RequestFilter): List =>
  (tx, page) =>
    listRequests.run(tx, { owner: { tenantId, mode: 'live' }, filter, page: { ...page } });
const mailboxes =
  (filter: object): List =>
  (tx, page) =>
    listMailboxes(tx, reach, { ...page, ...filter });

const OF_REQUESTS = 'requestLog USING PRIMARY KEY (tenantId=? AND mode=?';
const LISTS: readonly [what: string, list: List, walk: string][] = [
  ['requests', requests({}), OF_REQUESTS],
  [
    'requests of a path',
    requests({ path: '/v1/', statusClass: 4, method: 'GET', keyId: 'key_1' }),
    OF_REQUESTS,
  ],
  ['topics', (tx, page) => listTopics(tx, tenantId, page), 'topics USING INDEX topicsByTenant (tenantId=?'],
  [
    'templates',
    (tx, page) => listTemplates(tx, tenantId, page),
    'templates USING INDEX templatesByTenant (tenantId=?',
  ],
  [
    'templates of one name',
    (tx, page) => listTemplates(tx, tenantId, { ...page, name: 'n' }),
    'templates USING INDEX templatesByName (tenantId=? AND name=?',
  ],
  [
    'versions of a template',
    (tx, page) => listVersions(tx, tenantId, { ...page, templateId: 'tpl_1' }),
    'templateVersions USING INDEX templateVersionsByTemplate (templateId=?',
  ],
  ['broadcasts', broadcasts({}), 'broadcasts USING INDEX broadcastsByTenant (tenantId=?'],
  [
    'broadcasts of one status',
    broadcasts({ status: 'draft' }),
    'broadcasts USING INDEX broadcastsByStatus (',
  ],
  ['broadcasts of one audience', broadcasts({ audienceId }), 'broadcasts USING INDEX broadcastsByAudience ('],
  [
    'segments',
    (tx, page) => listSegments(tx, tenantId, page),
    'segments USING INDEX segmentsByTenant (tenantId=?',
  ],
  [
    'segments of one audience',
    (tx, page) => listSegments(tx, tenantId, { ...page, audienceId }),
    'segments USING INDEX segmentsByAudience (audienceId=?',
  ],
  ['contacts', contacts({}), 'contacts USING INDEX contactsByAudience (audienceId=?'],
  [
    'contacts who unsubscribed',
    contacts({ unsubscribed: true }),
    'contacts USING INDEX contactsByUnsubscribed (audienceId=? AND unsubscribed=?',
  ],
  ['suppressions', suppressions({}), 'suppressions USING INDEX suppressionsByTenant (tenantId=?'],
  [
    'suppressions for one reason',
    suppressions({ reason: 'bounce' }),
    'suppressions USING INDEX suppressionsByReason (tenantId=? AND reason=?',
  ],
  ['mailboxes', mailboxes({}), 'mailboxes USING INDEX mailboxesByTenant (tenantId=?'],
  [
    'mailboxes of one domain',
    mailboxes({ domain: 'a.example' }),
    'mailboxes USING INDEX mailboxesByDomain (tenantId=? AND domain=?',
  ],
  ['imports', jobs({}), 'jobs USING INDEX jobsByTenant (tenantId=? AND type=?'],
  [
    'imports of one status',
    jobs({ status: 'failed' }),
    'jobs USING INDEX jobsByStatus (tenantId=? AND type=? AND status=?',
  ],
  [
    'imports of one kind',
    jobs({ kind: 'contacts' }),
    'jobs USING INDEX jobsByKind (tenantId=? AND type=? AND kind=?',
  ],
  ...[{ audienceId }, { kind: 'suppressions', audienceId }].map((filter): (typeof LISTS)[number] => [
    `imports by ${Object.keys(filter).join(' and ')}`,
    jobs(filter),
    'jobs USING INDEX jobsByAudience (tenantId=? AND type=? AND kind=? AND audienceId=?',
  ]),
  [
    'API keys',
    (tx, page) => listKeysInUse(tx, owner, page),
    'apiKeys USING INDEX apiKeysInUse (tenantId=? AND mode=?',
  ],
  [
    'approvals',
    (tx, page) => listApprovals(tx, owner, page),
    'approvals USING INDEX approvalsByTenant (tenantId=? AND mode=?',
  ],
  [
    'approvals that wait',
    (tx, page) => listApprovals(tx, owner, { ...page, state: 'pending' }),
    'approvals USING INDEX approvalsByState (tenantId=? AND mode=? AND state=?',
  ],
  [
    'approvals of one domain',
    (tx, page) => listApprovals(tx, { ...owner, domainId: 'dom_1' }, page),
    'approvals USING INDEX approvalsByDomain (tenantId=? AND mode=? AND domainId=?',
  ],
  [
    'approvals of one domain that were declined',
    (tx, page) => listApprovals(tx, { ...owner, domainId: 'dom_1' }, { ...page, state: 'declined' }),
    'approvals USING INDEX approvalsByDomainAndState (tenantId=? AND mode=? AND domainId=? AND state=?',
  ],
];

for (const [what, list, walk] of LISTS) {
  test(`a page of ${what} walks one index`, async () => {
    for (const page of PAGES) {
      const plan = await explain((tx) => list(tx, { limit: 10, ...page }));
      assert.equal(plan.length, 1, plan.join('\n'));
      assert.ok(plan[0]?.startsWith(`SEARCH ${walk}`), plan[0]);
      // The range of ids is part of the search, so that a page costs the same wherever it is.
      if (Object.keys(page).length > 0) assert.match(plan[0] ?? '', / AND id[<>]\?/);
    }
  });
}

const BY_ADDRESS = 'contacts USING INDEX contactsByAddress (tenantId=? AND address=? AND audienceId=?)';
const BY_EMAIL = 'suppressions USING INDEX suppressionsByEmail (tenantId=? AND email=?)';

for (const [what, list, search] of [
  ['contacts with one address', contacts({ address: 'a@b.example' }), BY_ADDRESS],
  [
    'contacts with one address who unsubscribed',
    contacts({ address: 'a@b.example', unsubscribed: true }),
    BY_ADDRESS,
  ],
  ['suppressions of one address', suppressions({ email: 'a@b.example' }), BY_EMAIL],
  [
    'suppressions of one address for one reason',
    suppressions({ email: 'a@b.example', reason: 'bounce' }),
    BY_EMAIL,
  ],
] as const) {
  test(`a page of ${what} finds the one row there may be`, async () => {
    for (const page of PAGES) {
      const [first = ''] = await explain((tx) => list(tx, { limit: 10, ...page }));
      assert.equal(first, `SEARCH ${search}`);
    }
  });
}
