import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitReply } from '../../../../src/queue/outcome/replies/words.ts';

const wordsOf = (text: string, ownNames?: string[]) => splitReply(text, ownNames).words.join(' ');

test('words are compared without case and punctuation', () => {
  assert.equal(wordsOf("550 User's mailbox – UNKNOWN!"), '550 user s mailbox unknown');
  assert.equal(wordsOf('Unknown.Please check'), 'unknown please check');
});

test('addresses, URLs, IP addresses and host names are left out', () => {
  assert.equal(wordsOf('<rate@policy.example>: unknown'), 'unknown');
  assert.equal(wordsOf('user:ann@spam.example...unknown'), 'user unknown');
  assert.equal(wordsOf('see https://spam.example/policy?a=b and [192.0.2.1]'), 'see and');
  assert.equal(wordsOf('at mx1.spam.example.net:25 said'), 'at 25 said');
  assert.equal(wordsOf('at policy.example said', ['policy.example']), 'at said');
  assert.equal(wordsOf('"odd name"@rcpt.example unknown'), 'odd name unknown');
});

test('hosts are kept for the names of blocklists, apart from those of the delivery', () => {
  const text = 'https://www.spamhaus.org/q zen.spamhaus.org mx.rcpt.example';
  assert.deepEqual(splitReply(text).hosts, ['www.spamhaus.org', 'zen.spamhaus.org', 'mx.rcpt.example']);
  assert.deepEqual(splitReply(text, ['rcpt.example', 'spamhaus.org']).hosts, []);
});

test('status codes stay words, and the codes of Exchange are no hosts', () => {
  assert.equal(wordsOf('(#5.7.1)'), '#5 7 1');
  assert.equal(wordsOf('RESOLVER.ADR.RecipNotFound;'), 'resolver adr recipnotfound');
});

test('each character of scripts without spaces is a word', () => {
  assert.equal(wordsOf('宛先不明です。user'), '宛 先 不 明 で す user');
  assert.equal(wordsOf('Пользователь не найден'), 'пользователь не найден');
});

test('a long text is read up to its limit, in time that grows with its length alone', () => {
  for (const unit of ['@', 'a@', 'a.', '://', '#5.', 'user '])
    assert.ok(splitReply(unit.repeat(1_000_000)).words.length <= 2_000);
});
