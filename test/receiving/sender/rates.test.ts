import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSenderRates, DOMAIN_RATE } from '../../../src/receiving/sender/rates.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const OWN = { address: '192.0.2.1', sender: 'ann@shop.example' };
const PASS = { result: 'pass', domain: 'shop.example', reason: '' } as const;

function createWorld() {
  const clock = createFakeClock(0);
  return { clock, rates: createSenderRates(clock, (address) => address === '192.0.2.9') };
}

test('messages of a domain count once SPF has passed, wherever they come from', async () => {
  const { clock, rates } = createWorld();
  assert.equal(rates.refuseKnown(OWN), undefined);
  for (let count = 0; count < DOMAIN_RATE.burst; count++) {
    const network = { ...OWN, address: `198.51.${count >> 8}.${count & 255}` };
    assert.equal(rates.refuseKnown(network), undefined);
    assert.equal(rates.refuseProven(network, PASS), undefined);
  }
  const refused = {
    code: 450,
    status: '4.7.1',
    text: 'shop.example sends too many messages; try again in 1 s',
  };
  assert.deepEqual(rates.refuseProven(OWN, PASS), refused);
  // From now on, the message is refused before it is sent.
  assert.deepEqual(rates.refuseKnown(OWN), refused);
  await clock.advance(1_000 / DOMAIN_RATE.tokensPerSecond);
  assert.equal(rates.refuseKnown(OWN), undefined);
  assert.equal(rates.refuseProven(OWN, PASS), undefined);
  assert.deepEqual(rates.refuseKnown(OWN), refused);
});

test('a forged sender domain uses up nothing of the real one', () => {
  const { rates } = createWorld();
  const forged = { ...OWN, address: '203.0.113.1' };
  for (let count = 0; count <= DOMAIN_RATE.burst; count++) {
    for (const spf of [
      { ...PASS, result: 'fail' as const },
      { ...PASS, result: 'none' as const },
      // SPF has passed for another identity.
      { ...PASS, domain: 'evil.example' },
    ]) {
      assert.equal(rates.refuseKnown(forged), undefined);
      assert.equal(rates.refuseProven(forged, spf), undefined);
    }
  }
  assert.equal(rates.refuseProven(OWN, PASS), undefined);
});

test('trusted relays, the null sender and mail of this installation are not counted', () => {
  const { rates } = createWorld();
  for (const exempt of [
    { ...OWN, address: '192.0.2.9' },
    { ...OWN, sender: '' },
    { ...OWN, address: undefined },
  ])
    for (let count = 0; count <= DOMAIN_RATE.burst; count++) {
      assert.equal(rates.refuseProven(exempt, { ...PASS, domain: '' }), undefined);
      assert.equal(rates.refuseProven(exempt, PASS), undefined);
      assert.equal(rates.refuseKnown(exempt), undefined);
    }
});
