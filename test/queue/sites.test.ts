/** The operator asks about ten thousand sites, or one with many queues, while mail is delivered: no answer holds the thread for long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteExplanation } from '../../src/queue/schedule/explain.ts';
import type { ShapedSite } from '../../src/queue/shaping/limits-of.ts';
import { createSites } from '../../src/queue/sites.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';

const SITES = 10_000;
/** Number of queues at the site that rests longest. Others have one each. */
const QUEUES_OF_LAST = 25_000;
/** Maximum number of queues in one answer. */
const MAX_QUEUES = 20_000;
/** Maximum number of sites that are looked at in one turn of the event loop, and of queues whose names are compared. */
const MAX_SITES_PER_TURN = 128;
const MAX_QUEUES_PER_TURN = 1_100;

const NO_LIMIT = { value: null, origin: { kind: 'default' } } as const;

const clock = createFakeClock(Date.UTC(2030, 0, 1));
/** Sites that were looked at in this turn, and the number of queues whose names were read. */
const looked = new Set<string>();
let queuesRead = 0;

const SHAPED = Array.from({ length: SITES }, (_, number) => siteOf(`mx.d${number}.example`));
const told: unknown[] = [];

function siteOf(key: string): ShapedSite {
  return {
    get key() {
      looked.add(key);
      return key;
    },
    hosts: [key],
    relay: null,
    source: null,
  };
}

const sites = createSites({
  clock,
  log: recordLog('info').log,
  shaping: {
    get sites() {
      return SHAPED;
    },
    restrictions: [],
    resolve: () => ({
      connections: NO_LIMIT,
      providerConnections: NO_LIMIT,
      connectionsPerMinute: NO_LIMIT,
      recipientsPerMinute: NO_LIMIT,
      messagesPerConnection: NO_LIMIT,
    }),
    restrictionsAt: () => [],
    lift: async () => false,
    forgetMatches() {},
  },
  schedule: { explain, queuesAt, queues: queuesOfAll },
  claims: new Map(),
  sessions: new Map(),
  tell: (event) => void told.push(event),
});

/** Every site rests, the later the longer. */
function explain(site: string): SiteExplanation {
  const until = clock.elapsed() + Number(/\d+/.exec(site)) + 1;
  const limits = {
    connections: 5,
    connectionsPerMinute: null,
    recipientsPerMinute: null,
    messagesPerConnection: 100,
  };
  const rest = { until, reason: '5 failures in a row' };
  return {
    site,
    limits: { ...limits, group: null },
    ...{ sessions: 0, idleSessions: 0, allowedConnections: 1, connections: [], claimed: 0, queues: 1 },
    binding: { limit: 'rest', ...rest },
    learned: { connections: 1, ceilingUntil: null, failures: 5, rest, isProbed: true },
    restingTenants: [],
  };
}

function queueAt(site: string): string {
  return `live transactional ten_a ${site.slice('mx.'.length)}`;
}

function* queuesAt(site: string) {
  const count = site === SHAPED.at(-1)?.hosts[0] ? QUEUES_OF_LAST : 1;
  for (let number = 0; number < count; number++) {
    queuesRead++;
    yield number === 0 ? queueAt(site) : `${queueAt(site)}-${number}`;
  }
}

function* queuesOfAll() {
  for (let number = 0; number < SITES; number++) {
    queuesRead++;
    const site = `mx.d${number}.example`;
    yield { queue: queueAt(site), site };
  }
}

/** Returns the answer, and the largest numbers of sites and of queues in a turn of the event loop. */
async function watch<Answer>(ask: () => Promise<Answer>) {
  const most = { sites: 0, queues: 0, turns: 0 };
  let isOver = false;
  const count = () => {
    most.sites = Math.max(most.sites, looked.size);
    most.queues = Math.max(most.queues, queuesRead);
    most.turns++;
    looked.clear();
    queuesRead = 0;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const answer = await ask();
  isOver = true;
  await new Promise((resolve) => void setImmediate(resolve));
  assert.ok(most.sites <= MAX_SITES_PER_TURN, `${most.sites} sites in a turn`);
  assert.ok(most.queues <= MAX_QUEUES_PER_TURN, `${most.queues} queues in a turn`);
  assert.ok(most.turns > SITES / MAX_SITES_PER_TURN, `${most.turns} turns`);
  return answer;
}

test('ten thousand sites that rest, one with many queues, are listed in many turns, those that rest longest first', async () => {
  const { kept, total, sites: known } = await watch(() => sites.listKept());
  assert.equal(total, SITES);
  assert.deepEqual([kept.length, kept[0]?.place, kept[0]?.cause], [1_000, 'mx.d9999.example', 'failures']);
  assert.deepEqual(known.length, 1_000);
  assert.deepEqual(known[0]?.queues, ['live transactional ten_a d9000.example']);
  assert.equal(known.at(-1)?.queues.length, MAX_QUEUES - 999, 'the others have one each');
});

test('a site among ten thousand is found in many turns by a domain or a host, and is then dealt with at once', async () => {
  const [last] = await watch(() => sites.explainSites({ name: 'd9999.example', siteOfDomain: undefined }));
  assert.deepEqual([last?.site, last?.binding.limit], ['mx.d9999.example', 'rest']);
  const named = { name: 'mx.d9998.example', siteOfDomain: undefined };
  const lifted = await watch(() => sites.liftRests({ ...named, restriction: null }));
  assert.deepEqual(
    lifted.map((one) => one.kind === 'rest' && one.site),
    ['mx.d9998.example'],
  );
  const [forgotten] = await watch(() => sites.forgetLearned(named));
  assert.deepEqual(forgotten, { site: 'mx.d9998.example', failures: 5 });
  assert.deepEqual(await watch(() => sites.disconnect({ ...named, connection: null, force: false })), []);
  assert.deepEqual(told, [
    { kind: 'rest-lifted', site: 'mx.d9998.example' },
    { kind: 'unlearned', site: 'mx.d9998.example' },
  ]);
});
