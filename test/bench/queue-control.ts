/**
 * The queue in the operator's hands, with a million recipients that wait: how long a list and the statistics take, and what failing a
 * hundred thousand of them costs those who send meanwhile. The database is filled once, straight into its tables.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client } from 'undici';
import type { ShownAction } from '../../src/queue/control/show.ts';
import { queueKeyOf } from '../../src/queue/queue-key.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { ask, type Directory, makeDirectory, measureOn } from './daemon.ts';
import { SENDER_DOMAIN } from './message.ts';
import { type PacedResult, runPaced } from './paced-load.ts';
import { median, percentile } from './percentile.ts';
import { treeMemory } from './process-tree.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const WAITING = 1_000_000;
const DOMAINS = 10_000;
const FAILED = 100_000;
const REQUESTS_PER_KIND = 20;
const ACCEPTED_PER_SECOND = 200;
const BASELINE_MS = 15_000;
const YEAR_MS = 365 * 24 * 3_600_000;
/** Domain of the mail that is failed. */
const FAILED_DOMAIN = 'failed.test';

export const queueControl: Group = {
  name: 'queue-control',
  async prepare(workspace) {
    let filled: Promise<Directory> | undefined;
    const on = async (measure: (daemon: DaemonProcess, directory: Directory) => Promise<Measure>) => {
      filled ??= fill(workspace);
      const directory = await filled;
      return measureOn(directory, (daemon) => measure(daemon, directory));
    };
    return {
      rows: [
        {
          name: `Postrider: slowest \`queue list\` or \`stats\`, ${WAITING.toLocaleString('en')} recipients wait`,
          unit: 'ms',
          aim: 'under 200 ms',
          measure: () => on(measureReads),
        },
        {
          name: `Postrider: accept p99 while ${FAILED.toLocaleString('en')} recipients are failed, of that before`,
          unit: '%',
          aim: 'at most 150 %',
          rounds: 1,
          measure: () => on(measureFail),
        },
      ],
    };
  },
};

/** Fills a data directory with copies of one email, which are due in a year. */
async function fill(workspace: Workspace): Promise<Directory> {
  const directory = await makeDirectory(workspace, 'queue-control');
  let templateId = '';
  await measureOn(directory, async (daemon) => {
    const { id } = await ask<{ id: string }>(daemon, ['POST', '/v1/emails', directory.key], {
      ...emailTo(`ann@${FAILED_DOMAIN}`),
      scheduledAt: new Date(Date.now() + YEAR_MS - 3_600_000).toISOString(),
    });
    templateId = id;
    return { figure: 0 };
  });
  copyMail(directory, templateId);
  return directory;
}

function emailTo(to: string) {
  return { from: `Ada <ada@${SENDER_DOMAIN}>`, to, subject: 'Hi', text: 'Hello', type: 'transactional' };
}

function copyMail({ dataDir, tenantId }: Directory, templateId: string): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.pragma('synchronous = OFF');
  database.pragma('foreign_keys = OFF');
  const columns = (table: string, except: readonly string[]) =>
    database
      .prepare<[], { name: string }>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name)
      .filter((name) => !except.includes(name));
  const messageColumns = columns('messages', ['id']);
  const varied = [
    'id',
    'messageId',
    'address',
    'domain',
    'queue',
    'state',
    'attempts',
    'class',
    'diagnostic',
  ];
  const recipientColumns = columns('recipients', varied);
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${WAITING})`;
  const domain = `CASE WHEN i <= ${FAILED} THEN '${FAILED_DOMAIN}' ELSE 'd' || (i % ${DOMAINS}) || '.test' END`;
  const prefix = queueKeyOf({ mode: 'live', kind: 'transactional', tenantId }, '');
  database.exec(`BEGIN;
    ${numbers} INSERT INTO messages (id, ${messageColumns})
    SELECT printf('em_%026d', i), ${messageColumns} FROM n, messages WHERE id = '${templateId}';
    ${numbers} INSERT INTO recipients (${[...varied, ...recipientColumns]})
    SELECT printf('rcp_%026d', i), printf('em_%026d', i), 'user' || i || '@' || ${domain}, ${domain}, '${prefix}' || ${domain},
           iif(i % 3 = 0, 'deferred', 'ready'), i % 3 = 0, iif(i % 3 = 0, iif(i % 2, 'rate', 'greylist'), NULL),
           iif(i % 3 = 0, '451 4.7.1 Try again later', NULL), ${recipientColumns}
      FROM n, recipients WHERE messageId = '${templateId}';
    COMMIT;`);
  database.close();
}

/** Sends requests to the control socket of the daemon. */
function openControl(dataDir: string) {
  const client = new Client('http://localhost', { socketPath: join(dataDir, 'control.sock') });
  return {
    async request<Answer>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = body === undefined ? null : JSON.stringify(body);
      const answer = await client.request({ method, path, headers, body: sent });
      const shown = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${path} was answered ${answer.statusCode} ${shown}`);
      return JSON.parse(shown) as Answer;
    },
    close: () => client.close(),
  };
}

const READS: Readonly<Record<string, string>> = {
  'list of all': '/queue/recipients',
  'list of a domain': '/queue/recipients?domain=d42.test',
  'list by state': '/queue/recipients?state=deferred',
  'list by class': '/queue/recipients?class=rate',
  'list of a class that is nowhere': '/queue/recipients?class=quota',
  'list of a domain that is nowhere': '/queue/recipients?domain=none.test',
  'statistics by domain': '/queue/stats',
  'statistics by site': '/queue/stats?by=site',
  'a domain': '/queue/domains/d42.test',
};

async function measureReads(daemon: DaemonProcess, { dataDir }: Directory): Promise<Measure> {
  const control = openControl(dataDir);
  const slowest = new Map<string, number>();
  const all: number[] = [];
  const { total } = await control.request<{ total: { waiting: number } }>('GET', '/queue/stats');
  if (total.waiting < WAITING - FAILED) throw new Error(`only ${total.waiting} recipients wait`);
  for (const [name, path] of Object.entries(READS)) {
    const times: number[] = [];
    for (let count = 0; count < REQUESTS_PER_KIND; count++) {
      const askedAt = performance.now();
      await control.request('GET', path);
      times.push(performance.now() - askedAt);
    }
    all.push(...times);
    slowest.set(`${name}, p50 ms`, median(times));
    slowest.set(`${name}, longest ms`, percentile(times, 1));
  }
  await control.close();
  const longest = [...slowest].filter(([name]) => name.endsWith('longest ms')).map(([, ms]) => ms);
  return {
    figure: Math.max(...longest),
    p50Ms: median(all),
    p99Ms: percentile(all, 0.99),
    memory: treeMemory([daemon.pid]),
    details: Object.fromEntries(slowest),
  };
}

async function measureFail(daemon: DaemonProcess, { dataDir, key }: Directory): Promise<Measure> {
  const baselineUntil = performance.now() + BASELINE_MS;
  const before = await runPaced(sending(daemon, key), () => performance.now() >= baselineUntil);
  const control = openControl(dataDir);
  const begunAt = performance.now();
  let isOver = false;
  const failing = failAll(control).finally(() => {
    isOver = true;
  });
  const during = await runPaced(sending(daemon, key), () => isOver);
  const changed = await failing;
  const tookMs = performance.now() - begunAt;
  await control.close();
  return {
    figure: (100 * during.p99Ms) / before.p99Ms,
    p50Ms: during.p50Ms,
    p99Ms: during.p99Ms,
    memory: treeMemory([daemon.pid]),
    details: {
      ...shown(before, 'before'),
      ...shown(during, 'meanwhile'),
      failed: changed,
      'failing, ms': tookMs,
    },
  };
}

function shown({ p50Ms, p99Ms, maxMs, refused }: PacedResult, when: string): Record<string, number> {
  return {
    [`accept p50 ${when}, ms`]: p50Ms,
    [`accept p99 ${when}, ms`]: p99Ms,
    [`longest accept ${when}, ms`]: maxMs,
    [`refused ${when}`]: refused,
  };
}

/** Emails that are delivered at once, so that claims and outcomes are written meanwhile. */
function sending(daemon: DaemonProcess, key: string) {
  const body = JSON.stringify(emailTo('delivered@simulator.postrider.test'));
  return {
    url: new URL('/v1/emails', daemon.address),
    headers: { authorization: `Bearer ${key}` },
    bodyOf: () => body,
    perSecond: ACCEPTED_PER_SECOND,
  };
}

async function failAll(control: ReturnType<typeof openControl>): Promise<number> {
  const wanted = { verb: 'fail', domain: FAILED_DOMAIN, reason: 'a measurement' };
  let action = await control.request<ShownAction>('POST', '/queue/actions', wanted);
  while (action.finishedAt === null)
    action = await control.request<ShownAction>('POST', `/queue/actions/${action.id}/continue`);
  return action.changed;
}
