/** Prometheus' own tool reads the alert rules, the expressions of the board, and the metrics of a daemon. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';

const run = promisify(execFile);
const CONFIG = fileURLToPath(new URL('../../config/', import.meta.url));
const PROMTOOL = '/usr/bin/promtool';

test('promtool accepts the alert rules, and refuses one that is damaged', async () => {
  const rules = join(CONFIG, 'prometheus-alerts.yaml');
  assert.match((await run(PROMTOOL, ['check', 'rules', rules])).stdout, /SUCCESS: \d+ rules found/);
  const damaged = join(temporaryDirectory('rules'), 'rules.yaml');
  writeFileSync(damaged, readFileSync(rules, 'utf8').replace('expr: ', 'expr: ('));
  await assert.rejects(run(PROMTOOL, ['check', 'rules', damaged]));
});

test('promtool accepts each expression of the board', async () => {
  const { panels } = JSON.parse(readFileSync(join(CONFIG, 'grafana-board.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const rules = expressions.map((expr, index) => ({
    record: `board:panel:${index}`,
    expr: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5m'),
  }));
  // JSON is YAML.
  const file = join(temporaryDirectory('board'), 'rules.yaml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules }] }));
  const { stdout } = await run(PROMTOOL, ['check', 'rules', file]);
  assert.match(stdout, new RegExp(`SUCCESS: ${expressions.length} rules found`));
});

test('promtool has nothing to complain about in the metrics of a daemon', async () => {
  const daemon = await startDaemonProcess({ env: { POSTRIDER_HTTP_METRICS: 'true' } });
  const { status, body } = await daemon.request('GET', '/metrics', undefined);
  await daemon.stop();
  assert.equal(status, 200);
  const tool = spawn(PROMTOOL, ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  tool.stdin.end(String(body));
  const [said, [code]] = await Promise.all([
    Promise.all([text(tool.stdout), text(tool.stderr)]),
    once(tool, 'close'),
  ]);
  assert.deepEqual([said.join(''), code], ['', 0]);
});
