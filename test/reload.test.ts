import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../src/config/config.ts';
import { leaves } from '../src/config/environment.ts';
import { configSchema } from '../src/config/schema.ts';
import type { ExpiryStep } from '../src/db/expiry.ts';
import { entriesOf } from '../src/features.ts';
import { openToReload, RELOADED_SETTINGS, reload } from '../src/reload.ts';
import { createLog } from '../src/system/log.ts';

function open(env: Record<string, string>) {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const config = openToReload(loadConfig({ env }));
  let reads = 0;
  const certificates = {
    reload: async () => {
      reads += 1;
      return [];
    },
  };
  return {
    config,
    log,
    reads: () => reads,
    apply: (next: Record<string, string>) =>
      reload({ app: { config, log }, certificates }, loadConfig({ env: { ...env, ...next } })),
    logged: () => lines.map((line) => JSON.parse(line)),
  };
}

test('the level of the log changes at once, and the certificates are read again', async () => {
  const { log, apply, reads, logged } = open({});
  log.debug({}, 'before');
  await apply({ POSTRIDER_LOG_LEVEL: 'debug' });
  log.debug({}, 'after');
  assert.deepEqual(
    logged().map(({ msg }) => msg),
    ['configuration and certificates read again', 'after'],
  );
  assert.equal(reads(), 1);
});

test('a changed setting that counts only after a restart is named', async () => {
  const { apply, logged } = open({});
  await apply({ POSTRIDER_HTTP_PORT: '1', POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' });
  const { settings, msg } = logged().at(-1);
  assert.equal(msg, 'changed settings need a restart');
  assert.deepEqual(settings, ['http.port', 'outbound.allowTargets']);
});

test('settings that are read when they are used change in the configuration that everybody has', async () => {
  const { config, apply, logged } = open({ POSTRIDER_RETENTION_EVENT_DAYS: '60' });
  const { retention, operator } = config;
  await apply({
    POSTRIDER_OPERATOR_EMAIL: 'ops@admin.example',
    POSTRIDER_RETENTION_EVENT_DAYS: '50',
    POSTRIDER_BACKUP_TIME: '04:30',
    POSTRIDER_HTTP_PORT: '1',
  });
  assert.deepEqual(
    [operator.email, retention.eventDays, config.backup.time, config.http.port],
    ['ops@admin.example', 50, '04:30', 8025],
  );
  assert.equal(config.sources['operator.email'], 'environment');
  const [read, restart] = logged();
  assert.deepEqual(read.settings, ['operator.email', 'retention.eventDays', 'backup.time']);
  assert.deepEqual(restart.settings, ['http.port']);
});

test('a setting that was applied is not named again, and can be taken back', async () => {
  const { config, apply, logged } = open({});
  const { email } = config.operator;
  await apply({ POSTRIDER_OPERATOR_EMAIL: 'ops@admin.example' });
  await apply({ POSTRIDER_OPERATOR_EMAIL: 'ops@admin.example' });
  assert.deepEqual(logged().at(-1).settings, []);
  await apply({});
  assert.equal(config.operator.email, email);
  assert.equal(config.sources['operator.email'], undefined);
});

test('the settings that change at once are settings', () => {
  const known = new Set(leaves(configSchema).map(({ path }) => path.join('.')));
  assert.deepEqual(
    RELOADED_SETTINGS.filter((name) => !known.has(name)),
    [],
  );
});

test('no step of retention keeps the days that it was made with', () => {
  const read: string[] = [];
  const config = loadConfig({ env: {} });
  const retention = new Proxy(config.retention, {
    get(target, key, receiver) {
      read.push(String(key));
      return Reflect.get(target, key, receiver);
    },
  });
  const app = { config: { ...config, retention } };
  const steps = entriesOf('retention').flatMap((create: (given: never) => readonly ExpiryStep[]) =>
    create(app as never),
  );
  assert.ok(steps.length > 10);
  assert.deepEqual(read, []);
});
