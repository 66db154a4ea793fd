import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../src/config/config.ts';
import { reload } from '../src/reload.ts';
import { createLog } from '../src/system/log.ts';

function open(env: Record<string, string>) {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const config = loadConfig({ env });
  let reads = 0;
  const certificates = {
    reload: async () => {
      reads += 1;
      return [];
    },
  };
  return {
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
