import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReplyCodes } from '../../../../src/queue/outcome/notice.ts';
import { packagedReplies } from '../../../../src/queue/outcome/replies/replies.ts';
import type { ReplyPhase } from '../../../../src/queue/outcome/replies/row.ts';
import { ABOUT_OTHERS, COUNTER_EXAMPLES, DEAD, ROW_EXAMPLES } from './examples.ts';

const table = packagedReplies();

function explain(text: string, phase: ReplyPhase = 'rcpt', host: string | null = null) {
  const ownNames = ['spamhaus.org'].filter((name) => text.includes(`@${name}`));
  return table.explain({ phase, ...readReplyCodes(text), text, host, ownNames });
}

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|'));

test('each row is reached by a reply, or by its own fact', () => {
  const reached = new Set<string>();
  for (const [row = '', suppresses, phase = '', host = '', reply = ''] of linesOf(ROW_EXAMPLES)) {
    const meaning = explain(reply, phase as ReplyPhase, host === '' ? null : host);
    assert.deepEqual([meaning.row, meaning.suppresses], [row, suppresses], reply);
    reached.add(row);
  }
  for (const { fact } of table.rows) if (fact !== undefined) reached.add(table.explainFact(fact).row);
  assert.deepEqual(
    table.rows.map(({ id }) => id).filter((id) => !reached.has(id)),
    [],
  );
});

test('a refusal about somebody or something else suppresses nothing in any phase', () => {
  for (const reply of ABOUT_OTHERS)
    for (const phase of ['rcpt', 'dot', 'dsn'] as const)
      assert.equal(explain(reply, phase).suppresses, 'never', `${phase}: ${reply}`);
});

test('the commonest replies about dead addresses suppress, at once or after repetition', () => {
  for (const [suppresses, reply] of DEAD)
    for (const phase of ['rcpt', 'dsn'] as const)
      assert.equal(explain(reply, phase).suppresses, suppresses, reply);
});

test('each veto leaves alone a reply about the recipient that has its words elsewhere', () => {
  const examples = linesOf(COUNTER_EXAMPLES);
  assert.deepEqual(
    examples.map(([row]) => row),
    table.rows.filter(({ section }) => section === 'vetoes').map(({ id }) => id),
  );
  for (const [row, reply = ''] of examples)
    assert.equal(explain(reply).suppresses, 'now', `${row}: ${reply}`);
});

test('5.1.0, 551 and 553 alone prove nothing', () => {
  for (const reply of ['550 5.1.0 No', '551 No', '553 No', '553 5.1.0 No'])
    for (const phase of ['rcpt', 'dot', 'dsn'] as const)
      assert.equal(explain(reply, phase).suppresses, 'never');
});

test('a temporary reply suppresses nothing, whatever it says', () => {
  for (const reply of ['450 4.1.1 User unknown', '450 User unknown', '421 5.1.1 User unknown'])
    assert.equal(explain(reply).suppresses, 'never', reply);
});

test('every row names its source, and only certain ones about the recipient or its domain suppress', () => {
  for (const { id, source, suppresses, scope, fact } of table.rows) {
    assert.ok(source.length > 5, id);
    if (suppresses !== 'never' && fact === undefined) assert.ok(['recipient', 'domain'].includes(scope), id);
  }
});

test('the codes of Google mean what Google says at its hosts alone', () => {
  const host = 'gmail-smtp-in.l.google.com';
  const classAt = (code: string, at: string | null) => explain(`550 ${code} No`, 'dot', at).class;
  const codes = {
    '23': 'auth-fail',
    '25': 'auth-fail',
    '26': 'auth-fail',
    '27': 'auth-fail',
    '28': 'rate',
    '29': 'tls',
  };
  for (const [detail, class_] of Object.entries(codes)) assert.equal(classAt(`5.7.${detail}`, host), class_);
  for (const detail of ['30', '31', '32', '40']) assert.equal(classAt(`5.7.${detail}`, host), 'auth-fail');
  assert.equal(classAt('5.7.30', null), 'tls');
  assert.equal(classAt('5.7.27', 'mx.notgoogle.com'), 'invalid-sender');
  assert.equal(explain('550 5.7.27 No - gsmtp', 'dsn').row, 'google-spf', 'the words count without a host');
  assert.equal(explain('550 5.7.27 No - gsmtp', 'dsn', 'mx.other.example').row, 'sender-null-mx');
});
