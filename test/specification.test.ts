/** Every statement of the specification is proved by a test that is there, or is one of the few still to come. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { OTHER_ENDPOINTS } from './specification/other-endpoints.ts';
import { RESOURCES } from './specification/resources.ts';
import { RULES } from './specification/rules.ts';
import { SENDING_ENDPOINTS } from './specification/sending-endpoints.ts';
import { STATES } from './specification/states.ts';
import { type Section, TO_COME } from './specification/table.ts';
import { testNamesIn } from './specification/test-names.ts';

const SECTIONS: readonly Section[] = [
  ...RESOURCES,
  ...STATES,
  ...SENDING_ENDPOINTS,
  ...OTHER_ENDPOINTS,
  ...RULES,
];

/** Broadcast sending and its pages, inbound deliveries, opens and clicks, complaints, mailboxes, the dashboard. May only shrink. */
const TO_COME_NOW = 14;

for (const { title, statements } of SECTIONS) {
  for (const [statement, proof] of Object.entries(statements)) {
    if (proof === TO_COME) continue;
    test(`${title}: ${statement}`, () => {
      for (const one of [proof].flat()) {
        const [file = '', name = ''] = one.split(/(?<=\.test\.ts): (.*)/s);
        assert.ok(namesOf(file).has(name), `no test of ${file} is named "${name}"`);
      }
    });
  }
}

const known = new Map<string, ReadonlySet<string>>();

function namesOf(file: string): ReadonlySet<string> {
  const path = new URL(file, import.meta.url);
  assert.ok(existsSync(path), `there is no test/${file}`);
  const names = known.get(file) ?? testNamesIn(readFileSync(path, 'utf8'));
  known.set(file, names);
  return names;
}

test('what is still to come is exactly what it was', () => {
  const toCome = SECTIONS.flatMap(({ statements }) => Object.values(statements)).filter(
    (proof) => proof === TO_COME,
  );
  assert.equal(toCome.length, TO_COME_NOW);
});
