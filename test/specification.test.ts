/**
 * Every statement of the specification names the test that proves it, or is one of the few still to come. Whether the
 * named tests passed is judged at the end of `npm test` (specification/unproven.ts).
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { TO_COME } from './specification/table.ts';
import { SECTIONS, splitProof } from './specification/unproven.ts';

/** Mailboxes and the dashboard. May only shrink. */
const TO_COME_NOW = 4;

const proofs = SECTIONS.flatMap(({ statements }) => Object.values(statements));

test('every proof names a test of a file that exists', () => {
  const wrong = proofs.filter((proof) => {
    const { file, name } = splitProof(proof);
    return proof !== TO_COME && (name === '' || !existsSync(new URL(file, import.meta.url)));
  });
  assert.deepEqual(wrong, []);
});

test('the number of statements without a proof is the known one', () => {
  assert.equal(proofs.filter((proof) => proof === TO_COME).length, TO_COME_NOW);
});
