/** Keys that require approval, and the decisions of a key that does not, as tests of emails and broadcasts need them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createExpiryKind } from '../../src/approvals/expiry.ts';
import { MAX_PENDING } from '../../src/approvals/store.ts';
import { expireBroadcastApproval } from '../../src/broadcasts/approval/decide.ts';
import type { Mode } from '../../src/db/tables.ts';
import type { RequiredApproval } from '../../src/db/tenant-tables.ts';
import { expireEmailApproval } from '../../src/emails/approval.ts';
import type { Spool } from '../support/spool.ts';
import { runDueTasks } from '../support/tasks.ts';
import type { TestApp, TestResponse } from '../support/test-app.ts';

export const HOUR_MS = 3_600_000;
/** Time that a person has for a decision. */
export const DECISION_MS = 72 * HOUR_MS;

export type Approving = {
  /** Returns a live key whose mail requires approval. */
  intern(requiresApproval: RequiredApproval, more?: object): Promise<string>;
  /** Approves or declines the mail at a path, such as `/emails/em_…`, as it is now. */
  decide(path: string, decision: 'approve' | 'decline', more?: Deciding): Promise<TestResponse>;
  /** Returns the states of all approvals of the mail, the oldest first. */
  states(reference: string): Promise<string[]>;
  /** Returns the types of the events about approvals of the mail, the oldest first. */
  events(reference: string): Promise<string[]>;
  /** Runs the tasks that end approvals whose time is over. */
  expire(): Promise<void>;
};

type Deciding = { key?: string; hash?: string; reason?: string };

export function approvingIn({ app, request, liveKey }: Spool): Approving {
  return {
    async intern(requiresApproval, more = {}) {
      const body = { name: 'intern', permission: 'full_access', requiresApproval, ...more };
      const made = await request('POST', '/v1/api-keys', { key: liveKey, body });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      assert.equal(made.body.requiresApproval, requiresApproval);
      return made.body.token;
    },
    async decide(path, decision, { key = liveKey, hash, ...more } = {}) {
      const shown = await request('GET', `/v1${path}`, { key: liveKey });
      const body = { hash: hash ?? shown.body.approval?.hash ?? 'x'.repeat(64), ...more };
      return request('POST', `/v1${path}/${decision}`, { key, body });
    },
    async states(reference) {
      const rows = await app.db.read
        .selectFrom('approvals')
        .select('state')
        .where('reference', '=', reference)
        .orderBy('id')
        .execute();
      return rows.map(({ state }) => state);
    },
    async events(reference) {
      const rows = await app.db.read
        .selectFrom('events')
        .select(['type', 'data'])
        .where('type', 'like', 'approval.%')
        .orderBy('createdAt')
        .execute();
      return rows.filter(({ data }) => data.includes(reference)).map(({ type }) => type);
    },
    async expire() {
      await runDueTasks(app, createExpiryKind(app, 'email', expireEmailApproval));
      await runDueTasks(app, createExpiryKind(app, 'broadcast', expireBroadcastApproval));
    },
  };
}

/** Makes as much mail wait for approval as may. Another connection than the daemon's stores it, as another process would. */
export function fillApprovals(
  { dataDir }: Pick<TestApp, 'dataDir'>,
  owner: { tenantId: string; mode: Mode },
): { empty(): void } {
  const run = (sql: string, parameters: object = {}) => {
    const database = new Sqlite(join(dataDir, 'postrider.db'));
    try {
      database.prepare(sql).run({ ...owner, ...parameters });
    } finally {
      database.close();
    }
  };
  run(
    `WITH RECURSIVE rows(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM rows WHERE value < @count)
     INSERT INTO approvals (id, tenantId, mode, kind, reference, hash, state, keyId, fromHeader, subject, createdAt, expiresAt)
     SELECT 'apr_full' || value, @tenantId, @mode, 'email', 'em_full' || value, '', 'pending', 'key_1', '', '', 0, 0
       FROM rows`,
    { count: MAX_PENDING },
  );
  return {
    empty: () =>
      run(`DELETE FROM approvals WHERE id LIKE 'apr_full%' AND tenantId = @tenantId AND mode = @mode`),
  };
}
