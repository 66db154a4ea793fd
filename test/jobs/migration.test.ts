/** Jobs of an earlier version, which had a table for imports and another for exports. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { createApiServer } from '../../src/api.ts';
import { openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { TenantRow } from '../../src/db/tenant-tables.ts';
import { exportHandlers, importHandlers, lease, runExport, runImport } from '../imports/jobs.ts';
import { previousVersion, writePreviousVersion } from '../support/previous-version.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const FILE = 'email\na@b.example\nno address\nc@d.example\ne@f.example\n';

/** Stores an import that was stopped after two of four rows, and an export that has not begun. */
function addJobs(dataDir: string): TenantRow['id'] {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  const insert = (table: string, row: Record<string, unknown>) => {
    const columns = Object.keys(row);
    const values = columns.map(() => '?').join();
    database
      .prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${values})`)
      .run(...Object.values(row));
  };
  const { id: tenantId } = database.prepare('SELECT id FROM tenants').get() as { id: TenantRow['id'] };
  const data = Buffer.from(FILE);
  const sha256 = createHash('sha256').update(data).digest('hex');
  insert('blobs', { id: 'blob_x', sha256, sizeBytes: data.length, eightBit: 0, data, createdAt: 0 });
  const job = { tenantId, kind: 'suppressions', dueAt: 2, createdAt: 1 };
  const counts = { rows: 2, created: 1, updated: 0, skipped: 0, failed: 1 };
  insert('imports', {
    ...job,
    ...counts,
    id: 'imp_x',
    options: '{"reason":"manual"}',
    status: 'running',
    blobId: 'blob_x',
    sizeBytes: data.length,
    processedBytes: 20,
    startedAt: 1,
  });
  insert('importErrors', { importId: 'imp_x', tenantId, line: 3, email: 'no address', message: 'Wrong' });
  insert('exports', { ...job, id: 'exp_x', filter: '{"reason":"manual"}', status: 'queued', rows: 0 });
  database.close();
  return tenantId;
}

test('an import in the middle and a queued export of an earlier version are finished after an upgrade', async () => {
  const dataDir = temporaryDirectory('jobs');
  writePreviousVersion(dataDir, 'oldest');
  const tenantId = addJobs(dataDir);
  const env = { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_HOSTNAME: 'mail.test', POSTRIDER_LOG_LEVEL: 'silent' };
  await using app = await openApp(loadConfig({ env }));
  const server = await createApiServer(app);
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${previousVersion('oldest').keys.test}` };
    return (await server.inject({ url: `/v1${path}`, headers })).body;
  };
  try {
    const before = JSON.parse(await get('/imports/imp_x'));
    assert.deepEqual(
      [before.status, before.rows, before.created, before.failed, before.processedBytes, before.sizeBytes],
      ['running', 2, 1, 1, 20, FILE.length],
    );
    const world = { app, tenantId };
    const [file] = await lease(world, 'import');
    const [list] = await lease(world, 'export');
    assert.ok(file && list);
    assert.equal(await runImport(app, importHandlers.suppressions, file), 'completed');
    assert.equal(await runExport(app, exportHandlers.suppressions, list), 'completed');
    const { status, rows, created, failed } = JSON.parse(await get('/imports/imp_x'));
    assert.deepEqual([status, rows, created, failed], ['completed', 4, 3, 1]);
    assert.equal(await get('/imports/imp_x/errors'), 'line,email,error\r\n3,no address,Wrong\r\n');
    const exported = (await get('/exports/exp_x/file')).split('\r\n').map((line) => line.split(',')[0]);
    assert.ok(exported.includes('c@d.example') && exported.includes('e@f.example'));
  } finally {
    await server.close();
  }
});
