/** A list by filters that seldom meet is read in parts: the same pages, however small the parts are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmailRow } from '../../../src/db/email-tables.ts';
import type { Tx } from '../../../src/db/operation.ts';
import type { Page, PageRequest } from '../../../src/db/page.ts';
import type { EmailStatus } from '../../../src/db/tables.ts';
import { listEmails } from '../../../src/emails/list/read.ts';
import type { EmailFilter, Filters } from '../../../src/emails/list/store.ts';
import type { EmailSummary } from '../../../src/emails/show.ts';
import { newId } from '../../../src/system/ids.ts';
import { inThisThread } from '../../support/explain.ts';
import { openMemoryDatabase } from '../../support/memory-database.ts';
import { storeBareDomain, storeBareEmail, storeBareKey } from '../fixtures.ts';

const owner = { tenantId: newId('ten', 0), mode: 'live' } as const;
const EMAILS = 40;
/** The domain that has the name now, the one that had it before, and one whose row is deleted. */
const DOMAINS = [newId('dom', 2), newId('dom', 1), newId('dom', 0)] as const;
const [DOMAIN, EARLIER] = DOMAINS;
/** A key of the tenant, and one of another mode. */
const KEY = newId('key', 0);
const FOREIGN_KEY = newId('key', 1);

/** Oldest first; every second has the one tag, every third the other, and every fifth bounced. */
const emails = Array.from({ length: EMAILS }, (_, at) => ({
  id: newId('em', at),
  status: (at % 5 === 0 ? 'bounced' : 'delivered') satisfies EmailStatus as EmailStatus,
  tags: [...(at % 2 === 0 ? ['a'] : []), ...(at % 3 === 0 ? ['b'] : [])],
  domainId: DOMAINS[at % 7] ?? null,
  apiKeyId: at % 4 === 0 ? KEY : null,
}));
type Email = (typeof emails)[number];

async function inHistory(run: (tx: Tx) => Promise<void>): Promise<void> {
  const { database, tx, close } = openMemoryDatabase();
  // Nothing is asked of blobs and tenants.
  database.pragma('foreign_keys = OFF');
  const { tenantId } = owner;
  await storeBareDomain(tx, { tenantId, id: EARLIER, deletedAt: 0 });
  await storeBareDomain(tx, { tenantId, id: DOMAIN });
  for (const [id, mode] of [
    [KEY, 'live'],
    [FOREIGN_KEY, 'test'],
  ] as const)
    await storeBareKey(tx, { id, tenantId, mode });
  for (const { id, status, tags, domainId, apiKeyId } of emails)
    await storeBareEmail(tx, { ...owner, id, status, domainId, apiKeyId, tagPairs: tagged(...tags) });
  await run(tx);
  close();
}

const tagged = (...values: string[]) => values.map((value) => ({ key: 'kind', value }));
const bounced = ({ status }: Email) => status === 'bounced';
const FILTERS: readonly [filter: EmailFilter, answers: (email: Email) => boolean][] = [
  [{ tags: tagged('a'), status: 'bounced' }, (email) => email.tags.includes('a') && bounced(email)],
  [{ tags: tagged('a', 'b'), status: 'bounced' }, (email) => email.tags.length > 0 && bounced(email)],
  [{ tags: tagged('b'), fromDomain: 'b.example' }, ({ tags }) => tags.includes('b')],
  [{ tags: tagged('a'), status: 'canceled' }, () => false],
  [{ apiKeyId: KEY }, ({ apiKeyId }) => apiKeyId === KEY],
  [{ apiKeyId: KEY, status: 'bounced' }, (email) => email.apiKeyId === KEY && bounced(email)],
  [{ apiKeyId: FOREIGN_KEY, status: 'bounced' }, () => false],
];

const idAt = (at: number) => emails[at]?.id ?? assert.fail(`there is no email ${at}`);
const RANGES: readonly Omit<PageRequest, 'limit'>[] = [
  {},
  { startingAfter: idAt(21) },
  { endingBefore: idAt(9) },
  { from: idAt(5), until: idAt(36) },
  { from: idAt(5), until: idAt(36), startingAfter: idAt(30) },
  { from: idAt(5), until: idAt(36), endingBefore: idAt(6) },
];

function expected(
  answers: (email: Email) => boolean,
  { limit, ...range }: PageRequest,
): Page<EmailRow['id']> {
  const inRange = ({ id }: Email) =>
    (range.from === undefined || id >= range.from) &&
    (range.until === undefined || id < range.until) &&
    (range.startingAfter === undefined || id < range.startingAfter) &&
    (range.endingBefore === undefined || id > range.endingBefore);
  const all = emails.filter((email) => inRange(email) && answers(email)).map(({ id }) => id);
  const near = range.endingBefore === undefined ? all.slice(-limit) : all.slice(0, limit);
  return { items: near.toReversed(), hasMore: all.length > limit };
}

const shown = ({ items, hasMore }: Page<EmailSummary>) => ({ items: items.map(({ id }) => id), hasMore });

for (const scan of [1, 2, 7, 1_000]) {
  test(`pages of filters that are combined are whole, read ${scan} at a time`, async () => {
    await inHistory(async (tx) => {
      for (const [filter, answers] of FILTERS)
        await checkPages(tx, { list: { ...owner, domainId: null, filter }, answers, scan });
    });
  });

  test(`a list of one domain holds only its mail, combined with any filter, read ${scan} at a time`, async () => {
    await inHistory(async (tx) => {
      for (const domainId of DOMAINS) {
        for (const [filter, answers] of [[{}, () => true] as const, ...FILTERS]) {
          const ofDomain = (email: Email) => email.domainId === domainId && answers(email);
          await checkPages(tx, { list: { ...owner, domainId, filter }, answers: ofDomain, scan });
        }
      }
    });
  });
}

type Check = { list: Filters; answers: (email: Email) => boolean; scan: number };

async function checkPages(tx: Tx, { list, answers, scan }: Check): Promise<void> {
  for (const range of RANGES) {
    for (const limit of [1, 3, 100]) {
      const page = { ...range, limit };
      const found = await listEmails({ db: inThisThread(tx), scan }, list, page);
      assert.deepEqual(shown(found), expected(answers, page), JSON.stringify({ list, page }));
    }
  }
}

/** Counts the parts. */
function listing(tx: Tx, tags: readonly string[], gone?: AbortSignal) {
  let parts = 0;
  const db = inThisThread(tx);
  const query: typeof db.query = (read, input) => {
    parts += 1;
    return db.query(read, input);
  };
  const filters = {
    ...{ ...owner, domainId: null },
    filter: { tags: tagged(...tags), fromDomain: 'b.example' },
  } as const;
  return {
    run: () => listEmails({ db: { query }, scan: 4, ...(gone && { gone }) }, filters, { limit: 100 }),
    parts: () => parts,
  };
}

// Of 20 emails with the one tag five at a time, and what comes after the last; with two tags, as many of the commoner.
for (const tags of [['a'], ['a', 'b']]) {
  test(`a long look for ${tags.join(' or ')} is several parts, between which others have the thread`, () =>
    inHistory(async (tx) => {
      const { run, parts } = listing(tx, tags);
      await run();
      assert.equal(parts(), 5);
    }));
}

test('a scan stops when its client has disconnected', () =>
  inHistory(async (tx) => {
    const left = new Error('left');
    const { run, parts } = listing(tx, ['a'], AbortSignal.abort(left));
    await assert.rejects(run(), left);
    assert.equal(parts(), 0);
  }));
