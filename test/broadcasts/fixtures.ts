/** What the tests of broadcasts share: audiences and segments as rows, and a body that is accepted. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { AudienceRow, SegmentRow } from '../../src/db/marketing-tables.ts';
import { NO_REPORT } from '../../src/queue/outcome/outcome.ts';
import { notSent } from '../../src/queue/transport.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { deliverBy, deliveryAppOf, type Spool } from '../support/spool.ts';
import type { TestApp, TestMethod } from '../support/test-app.ts';

export const HOSTNAME = 'mx.postrider.example';
export const SANDBOX = `sandbox.${HOSTNAME}`;
export const TAG = '{{{unsubscribe_url}}}';

/** What a broadcast shows that nobody has planned or started. */
export const UNSENT = {
  scheduleAt: null,
  pace: null,
  pausedReason: null,
  failure: null,
  approval: null,
  startedAt: null,
  sentAt: null,
  counts: Object.fromEntries(
    [
      ...['recipients', 'waiting', 'queued', 'delivered', 'bounced', 'suppressed', 'optedOut', 'canceled'],
      ...[
        'failed',
        'sent',
        'complained',
        'opened',
        'uniqueOpened',
        'clicked',
        'uniqueClicked',
        'unsubscribed',
      ],
    ].map((name) => [name, 0]),
  ),
};

export type Row = Record<string, string | number | Uint8Array | null>;

/** Another connection than the daemon's, as another process would have. */
export function insertRow(world: TestApp, table: string, row: Row): void {
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  const columns = Object.keys(row);
  try {
    database
      .prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map((name) => `@${name}`)})`)
      .run(row);
  } finally {
    database.close();
  }
}

/** Makes a domain one that may no longer send. */
export function failDomain(world: TestApp, name: string): void {
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  try {
    database.prepare("UPDATE domains SET status = 'failed' WHERE name = ?").run(name);
  } finally {
    database.close();
  }
}

export function addAudience(world: TestApp, fields: Partial<AudienceRow> = {}): AudienceRow {
  const audience: AudienceRow = {
    ...{ id: newId('aud', 0), tenantId: world.tenantId, name: 'Readers', contactCount: 0 },
    ...{ createdAt: 0, updatedAt: 0, deletedAt: null, optIn: null, ...fields },
  };
  insertRow(world, 'audiences', audience);
  return audience;
}

export function addSegment(world: TestApp, audience: AudienceRow): SegmentRow {
  const { id: audienceId, tenantId } = audience;
  const filter = JSON.stringify({ op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] });
  const segment: SegmentRow = {
    ...{ id: newId('seg', 0), tenantId, audienceId, name: 'Some', filter, createdAt: 0, updatedAt: 0 },
  };
  insertRow(world, 'segments', segment);
  return segment;
}

/** Accepted from a test key as it is; fields of `more` that are undefined are left out. */
export function broadcastBody(audienceId: Id<'aud'>, more: object = {}): Record<string, unknown> {
  return {
    audienceId,
    from: `Ada <ada@${SANDBOX}>`,
    subject: 'What is new, {{firstName|friend}}',
    html: `<p>Hello {{firstName|friend}}</p><a href="${TAG}">Unsubscribe</a>`,
    ...more,
  };
}

/** The one who asks, with a test key unless another is given. */
export function clientOf(world: TestApp) {
  const ask = (method: TestMethod, path: string, body?: unknown, key = world.testKey) =>
    world.request(method, `/v1${path}`, { key, ...(body !== undefined && { body }) });
  return {
    ask,
    /** The broadcast that was made. */
    async created(body: unknown, key = world.testKey) {
      const answer = await ask('POST', '/broadcasts', body, key);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    async get(id: string, key = world.testKey) {
      const answer = await ask('GET', `/broadcasts/${id}`, undefined, key);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    },
    /** Refused with 400 that blames `param`; the message. */
    async refused(method: TestMethod, path: string, body: unknown, param: string): Promise<string> {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, 400, JSON.stringify({ body, answer: answer.body }).slice(0, 1_000));
      const { type, param: blamed, message } = answer.body.error;
      assert.deepEqual([type, blamed], ['validation_error', param], message);
      return message;
    },
  };
}

/** What every recipient of due mail gets, by address. The mail stays in the queue. */
export async function copiesOf(spool: Spool): Promise<Map<string, Buffer>> {
  const raws = new Map<string, Buffer>();
  for (const claim of await spool.claim()) {
    await deliverBy(spool.app, claim, async ({ message, recipients }) => {
      const { signature, content } = await deliveryAppOf(spool.app).prepare({ message, recipients });
      const pieces: Buffer[] = [Buffer.from(signature, 'latin1')];
      for await (const piece of content.chunks()) pieces.push(piece);
      raws.set(recipients.map((one) => one.address).join(), Buffer.concat(pieces));
      return notSent(claim, { kind: 'deferred', report: { ...NO_REPORT, phase: 'local', text: 'Later' } });
    });
  }
  return raws;
}
