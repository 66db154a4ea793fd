import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSenderRewriting } from '../../src/mail/srs.ts';
import { seededRandom } from '../faults/seeded-random.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 24, 15, 30);
const ours = createSenderRewriting(Buffer.alloc(32, 1));
const theirs = createSenderRewriting(Buffer.alloc(32, 2));
const third = createSenderRewriting(Buffer.alloc(32, 3));
const ANN = 'Ann.Lee+tag=x@Sender.example';
const LOCAL_CHARACTERS = "abcXYZ019!#$%&'*+/=?^_`{|}~.-ü";

function rewrite(srs: typeof ours, sender: string): string {
  const local = srs.rewrite(sender, NOW);
  assert.ok(local !== undefined, sender);
  return local;
}

test('a sender becomes one local part of at most 64 octets, and the other way round', () => {
  const random = seededRandom(17);
  const pick = () => LOCAL_CHARACTERS[Math.floor(random.between(0, LOCAL_CHARACTERS.length))] ?? '';
  assert.match(rewrite(ours, ANN), /^SRS0=[0-9a-z]{8}=[0-9a-z]{2}=Sender\.example=Ann\.Lee\+tag=x$/);
  for (let round = 0; round < 2_000; round++) {
    const local = Array.from({ length: 1 + (round % 20) }, pick).join('');
    const sender = `${local}@host-${round}.example`;
    const rewritten = rewrite(ours, sender);
    assert.ok(Buffer.byteLength(rewritten) <= 64);
    if (/^SRS/i.test(local)) continue;
    assert.equal(ours.reverse(rewritten, NOW), sender);
    assert.equal(ours.reverse(rewritten.toUpperCase(), NOW)?.toLowerCase(), sender.toLowerCase());
    assert.equal(theirs.reverse(rewritten, NOW), undefined);
  }
});

test('a second forwarder names the first one, a third keeps that, and bounces go back over the first', () => {
  const ann = 'ann@a.example';
  const first = `${rewrite(ours, ann)}@one.example`;
  const second = `${rewrite(theirs, first)}@two.example`;
  const last = rewrite(third, second);
  assert.match(second, /^SRS1=[0-9a-z]{8}=one\.example==/);
  assert.equal(third.reverse(last, NOW), first);
  assert.equal(theirs.reverse(second.split('@')[0] ?? '', NOW), first);
  assert.equal(ours.reverse(first.split('@')[0] ?? '', NOW), ann);
  assert.equal(ours.reverse(last, NOW), undefined);
  // Forwarders with other programs write other separators.
  const foreign = 'SRS0+abcd=ef=a.example=ann@other.example';
  assert.equal(ours.reverse(rewrite(ours, foreign), NOW), foreign);
});

test('a bounce is taken for 21 days, also when the day starts again from 0', () => {
  for (const start of [NOW, 1_024 * 20 * DAY_MS - DAY_MS]) {
    const local = ours.rewrite(ANN, start) ?? '';
    for (const [days, isValid] of [
      [0, true],
      [21, true],
      [22, false],
      [-1, false],
      [400, false],
    ] as const)
      assert.equal(ours.reverse(local, start + days * DAY_MS) === ANN, isValid, `${days}`);
  }
});

test('a sender without a rewritten form has none', () => {
  const senders = ['', 'ann', '"a b"@a.example', 'ann@[192.0.2.1]', 'a b@a.example', 'a@b@a.example'];
  for (const sender of [...senders, `ann@${'long'.repeat(12)}.example`, 'ann@a.example\r\nx'])
    assert.equal(ours.rewrite(sender, NOW), undefined, sender);
});

test('of 10,000 mutations none is an address of ours', () => {
  const random = seededRandom(23);
  const locals = [rewrite(ours, ANN), rewrite(ours, 'SRS0=abcd=ef=a.example=bob@one.example')];
  const characters = [...LOCAL_CHARACTERS, '@', '"', ' ', '\r'];
  let tried = 0;
  for (let round = 0; tried < 10_000; round++) {
    const local = locals[round % locals.length] ?? '';
    const at = Math.floor(random.between(0, local.length));
    const other = characters[Math.floor(random.between(0, characters.length))] ?? '';
    const cut = [local.slice(0, at), local.slice(0, at) + local.slice(at + 1), local.slice(at)];
    const changed = round % 2 === 0 ? local.slice(0, at) + other + local.slice(at + 1) : cut[round % 3];
    if (changed === undefined || changed.toLowerCase() === local.toLowerCase()) continue;
    tried++;
    assert.equal(ours.reverse(changed, NOW), undefined, changed);
  }
});
