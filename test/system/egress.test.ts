import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EgressGate, HeldEgressError } from '../../src/system/egress.ts';

test('a gate is open until it is held, in every thread that shares its memory', () => {
  const gate = new EgressGate();
  const elsewhere = new EgressGate(gate.memory);
  gate.require();
  gate.hold();
  assert.ok(elsewhere.isHeld);
  assert.throws(() => elsewhere.require(), HeldEgressError);
  gate.release();
  elsewhere.require();
});
