/** The alert rules and the board in config/ use only metrics that the program has, and are explained. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const SOURCES = globSync('src/**/*.ts', { cwd: ROOT })
  .map((path) => read(path))
  .join('\n');

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } };
const rules = (
  parse(read('config/prometheus-alerts.yaml')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
type BoardPanel = { title: string; targets: { expr: string }[] };
const { panels } = JSON.parse(read('config/grafana-board.json')) as { panels: BoardPanel[] };
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

/** Returns true when the sources register a metric of this name, without the suffixes of a histogram. */
function isRegistered(metric: string): boolean {
  const name = metric.replace(/^postrider_/, '').replace(/_(?:bucket|sum|count)$/, '');
  return [`'${name}'`, `\`${name}\``].some((literal) => SOURCES.includes(literal));
}

test('alerts and board use metrics that are registered', () => {
  const used = new Set(expressions.flatMap((expression) => expression.match(/\bpostrider_\w+/g) ?? []));
  assert.ok(used.size > 15);
  assert.deepEqual(
    [...used].filter((metric) => !isRegistered(metric)),
    [],
  );
  assert.ok(!isRegistered('postrider_no_such_metric'));
});

test('each alert has a severity and a summary, and the page says what to do', () => {
  const page = read('docs/monitoring.md');
  const explained = [...page.matchAll(/^\| `(Postrider\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    explained,
    rules.map(({ alert }) => alert),
  );
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels.severity, /^(?:warning|critical)$/, alert);
    assert.notEqual(annotations.summary, '', alert);
  }
});

test('every expression has balanced brackets', () => {
  for (const expression of expressions)
    for (const [open, close] of ['()', '{}', '[]'].map((pair) => pair.split('')))
      assert.equal(expression.split(open ?? '').length, expression.split(close ?? '').length, expression);
});
