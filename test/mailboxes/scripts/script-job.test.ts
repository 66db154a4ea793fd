/** The threads that run Sieve scripts carry out jobs, which the runner hands to them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { namedScript } from '../../../src/mailboxes/scripts/named-script.ts';
import { createScriptRunner } from '../../../src/mailboxes/scripts/runner.ts';
import {
  doJob,
  type RunJob,
  type ScriptResult,
  type SentRun,
  type SentScript,
} from '../../../src/mailboxes/scripts/script-job.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const HEADER = 'From: ann@sender.example\r\nSubject: Hello\r\n\r\n';
const COMMON: Omit<RunJob, 'scripts' | 'included'> & { owner: string } = {
  owner: 'ten_1',
  message: { octets: Buffer.from(HEADER), sizeBytes: HEADER.length },
  isWhole: false,
  envelope: { from: 'ann@sender.example', to: 'bob@people.example' },
  environment: {},
  now: 0,
  zoneMinutes: 0,
  folders: undefined,
  annotations: [],
  contacts: [],
  duplicates: [],
  missing: [],
  spamPercent: undefined,
};
let keys = 0;

const sent = (content: string, name = 'rules'): SentScript => ({ name, key: `${++keys}`, content });
type More = { included?: SentScript[]; missing?: string[]; owner?: string };
const runOf = (scripts: SentScript[], more: More = {}): SentRun => ({
  ...COMMON,
  included: [],
  ...more,
  scripts,
});

/** Returns the results of the runs for which there is time when the clock shows these milliseconds one after the other. */
function runTogether(runs: readonly SentRun[], times: number[] = []): readonly ScriptResult[] {
  const answer = doJob({ kind: 'run', runs }, { elapsed: () => times.shift() ?? 0 });
  return answer.kind === 'ran' ? answer.results : assert.fail();
}

const run = (scripts: SentScript[], more?: More): ScriptResult =>
  runTogether([runOf(scripts, more)])[0] ?? assert.fail();

/** Returns the folders of a result. */
function foldersOf(result: ScriptResult): string[] {
  assert.ok(result.kind === 'done', JSON.stringify(result));
  return result.actions.map((action) => (action.kind === 'fileinto' ? action.mailbox : action.kind));
}

test('a script runs only when the one before it keeps the message by itself', () => {
  const files = 'require "fileinto"; if header :is "subject" "Hello" { fileinto "One"; }';
  const later = sent('require "fileinto"; fileinto "Two";');
  assert.deepEqual(foldersOf(run([sent('if false { discard; }'), later])), ['Two']);
  assert.deepEqual(
    foldersOf(run([sent('redirect :copy "a@b.example";'.replace(/^/, 'require "copy"; ')), later])),
    ['redirect', 'Two'],
  );
  assert.deepEqual(foldersOf(run([sent(files), later])), ['One']);
  assert.deepEqual(foldersOf(run([sent('discard;'), later])), []);
});

test('limits, repetitions and conflicts are about all scripts of a message', () => {
  const redirects = (...names: string[]) =>
    sent(`require "copy"; ${names.map((n) => `redirect :copy "${n}@b.example";`).join(' ')}`);
  const four = redirects('a', 'b', 'c', 'd');
  assert.deepEqual(foldersOf(run([four, redirects('A', 'd')])), [...Array(4).fill('redirect'), 'keep']);
  const result = run([four, redirects('e')]);
  assert.ok(result.kind === 'failed' && /may redirect a message 4 times/.test(result.failure.message));
  const rejects = sent('require "reject"; reject "No.";');
  assert.equal(run([four, rejects]).kind, 'failed');
  const answers = sent('require "vacation"; vacation "Away.";');
  assert.deepEqual(foldersOf(run([answers, rejects])), ['vacation', 'reject']);
  assert.deepEqual(foldersOf(run([answers, answers])), ['vacation', 'vacation', 'keep']);
});

test('a job begins no further run after some milliseconds, and has one result at least', () => {
  const runs = ['keep;', 'discard;', 'keep;'].map((content) => runOf([sent(content)]));
  assert.deepEqual(runTogether(runs).map(foldersOf), [['keep'], [], ['keep']]);
  assert.deepEqual(runTogether(runs, [10, 14, 15]).map(foldersOf), [['keep'], []]);
  assert.deepEqual(runTogether(runs, [10, 1_000]).map(foldersOf), [['keep']]);
});

test('a job without the content of a script is for a thread that has compiled it', () => {
  const script = sent('discard;');
  const later = { ...script, content: undefined };
  assert.deepEqual(run([later]), { kind: 'unknown' });
  assert.deepEqual(foldersOf(run([script])), []);
  assert.deepEqual(foldersOf(run([later])), []);
});

test('a job says what it needs: the body, or the scripts that others include', () => {
  assert.deepEqual(run([sent('require "body"; if body :contains "x" { discard; }')]), {
    kind: 'needs',
    what: 'body',
  });
  const including = sent('require "include"; include "other";');
  assert.deepEqual(run([including]), { kind: 'needs', what: 'scripts', names: ['personal/other'] });
  const folders = sent('require "mailbox"; if mailboxexists "x" { discard; }');
  assert.deepEqual(run([folders]), { kind: 'needs', what: 'folders' });
  const other = sent('require "body"; if body :contains "x" { discard; }', 'personal/other');
  assert.deepEqual(run([including], { included: [other] }), { kind: 'needs', what: 'body' });
  assert.deepEqual(foldersOf(run([including], { included: [sent('discard;', 'personal/other')] })), []);
});

test('scripts are needed level by level, and only those that are included', () => {
  const optional = (...names: string[]) =>
    `require "include"; ${names.map((name) => `include :optional "${name}";`).join(' ')}`;
  const first = sent(optional('b', 'c'));
  const needs = (...names: string[]) => ({ kind: 'needs', what: 'scripts', names });
  assert.deepEqual(run([first]), needs('personal/b', 'personal/c'));
  const b = sent(optional('d', 'c'), 'personal/b');
  assert.deepEqual(run([first], { included: [b] }), needs('personal/c', 'personal/d'));
  assert.deepEqual(run([first], { included: [b], missing: ['personal/c'] }), needs('personal/d'));
  const d = sent('discard;', 'personal/d');
  assert.deepEqual(foldersOf(run([first], { included: [b, d], missing: ['personal/c'] })), []);
  // The other script of the mailbox does not run, so what it includes is not needed.
  assert.deepEqual(foldersOf(run([sent('discard;'), first])), []);
});

test('a tenant with many scripts leaves those of others compiled', () => {
  const script = sent('discard;');
  assert.deepEqual(foldersOf(run([script], { owner: 'ten_small' })), []);
  const later = { ...script, content: undefined };
  assert.deepEqual(run([later], { owner: 'ten_other' }), { kind: 'unknown' });
  const large = () => sent(`keep; # ${'x'.repeat(120_000)}`);
  const scripts = Array.from({ length: 10 }, large);
  for (const one of scripts) run([one], { owner: 'ten_large' });
  const [oldest] = scripts;
  assert.ok(oldest);
  assert.deepEqual(run([{ ...oldest, content: undefined }], { owner: 'ten_large' }), { kind: 'unknown' });
  assert.deepEqual(foldersOf(run([later], { owner: 'ten_small' })), []);
});

test('regular expressions count as memory of a script that is kept', () => {
  const keys = Array(20).fill('"a{990}"').join();
  const scripts = Array.from({ length: 30 }, () =>
    sent(`require "regex"; if header :regex "subject" [${keys}] { stop; }`),
  );
  for (const one of scripts) run([one], { owner: 'ten_regex' });
  const isKnown = (one: SentScript | undefined) =>
    one && run([{ ...one, content: undefined }], { owner: 'ten_regex' }).kind === 'done';
  assert.deepEqual([isKnown(scripts.at(-1)), isKnown(scripts[0])], [true, false]);
});

test('a failure names the script and the line, also of a script that is not correct any more', () => {
  const included = [sent('keep;\r\nredirect "no address";', 'personal/other')];
  const result = run([sent('require "include"; include "other";')], { included });
  assert.ok(result.kind === 'failed', JSON.stringify(result));
  const wrong = run([sent('keep;\r\nnothing;', 'mine')]);
  assert.ok(wrong.kind === 'failed');
  assert.deepEqual([wrong.failure.script, wrong.failure.line], ['mine', 2]);
});

test('the runner sends a script once, and checks scripts', async () => {
  const runner = createScriptRunner({ clock: createFakeClock(0) });
  after(() => runner.close());
  const job: RunJob = { ...COMMON, scripts: [namedScript('rules', 'discard;')], included: [] };
  for (let count = 0; count < 3; count++)
    assert.deepEqual(await runner.run(job, 'ten_1'), { kind: 'done', actions: [], remembered: [] });
  assert.equal(await runner.findProblem('keep;', 'ten_1'), undefined);
  assert.match((await runner.findProblem('keep;\r\nnothing;', 'ten_1')) ?? '', /^line 2, column 1: /);
  await runner.close();
  assert.equal((await runner.run(job, 'ten_1')).kind, 'busy');
  assert.match((await runner.findProblem('keep;', 'ten_1')) ?? '', /busy/);
});
