import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainReport } from '../../../src/queue/outcome/explain.ts';
import { NO_REPORT, type Report } from '../../../src/queue/outcome/outcome.ts';
import { packagedReplies } from '../../../src/queue/outcome/replies/replies.ts';
import { parseRules } from '../../../src/queue/shaping/parse.ts';
import { RuleTable } from '../../../src/queue/shaping/rule-table.ts';
import { packagedRules } from '../../../src/queue/shaping/rules-file.ts';

const packaged = readFileSync('config/back-off.yaml', 'utf8');

/** Returns the report of a reply such as `421 4.7.0 Try again later`. */
function reportOf(reply: string, part: Partial<Report> = {}): Report {
  const [, code = '', enhanced] = /^(\d{3})[ -](?:(\d\.\d{1,3}\.\d{1,3}) )?/.exec(reply) ?? [];
  const report = { ...NO_REPORT, phase: 'rcpt', mx: 'mx.rcpt.example', text: reply } as const;
  return { ...report, smtpCode: Number(code), enhancedCode: enhanced ?? null, ...part };
}

/** Returns the ids of the rules that a report meets. */
function metBy(report: Report, { provider = null as string | null, rules = packagedRules() } = {}): string[] {
  const { class: means } = explainReport(packagedReplies(), report);
  return rules.match({ report, class: means, provider, ownNames: [] }).map(({ id }) => id);
}

test('replies of large providers meet the rules that are made for them, and elsewhere they do not', () => {
  for (const [provider, reply, expected] of [
    [
      'yahoo',
      '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
      ['yahoo-volume', 'rate'],
    ],
    [
      'yahoo',
      '421 4.7.0 [TSS05] Messages from 192.0.2.1 temporarily deferred due to user complaints',
      ['yahoo-complaints', 'rate'],
    ],
    [
      'yahoo',
      '421 4.7.1 [TS03] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed.',
      ['yahoo-blocked'],
    ],
    [
      'google',
      '421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address.',
      ['google-rate'],
    ],
    [
      'outlook',
      '421 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.',
      ['microsoft-reputation', 'rate'],
    ],
    [
      'outlook',
      '421 4.3.2 The maximum number of concurrent server connections has exceeded a limit, closing transmission channel',
      [],
    ],
    [
      'microsoft',
      '452 4.5.3 The server exceeded the maximum number of connections',
      ['microsoft-connections'],
    ],
    [
      'comcast',
      '421 4.1.0 192.0.2.1 Throttled - try again later. Please see https://postmaster.comcast.net RL000001',
      ['comcast-rate'],
    ],
    [
      'orange',
      '421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. Too many connections',
      ['orange-connections'],
    ],
    [null, '421 4.7.0 [TSS05] no such rule elsewhere', []],
    [null, '451 4.7.1 Server busy, please try again', ['rate']],
    [null, '421 4.7.0 Too many connections, slow down', []],
    [null, '554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org', ['listed']],
    [null, '550 5.7.23 SPF validation failed', ['tenant-authentication']],
    [null, '554 5.7.1 Message rejected as spam', ['tenant-spam']],
    [null, '250 2.0.0 ok', []],
    [null, '550 5.1.1 User unknown', []],
  ] as const)
    assert.deepEqual(metBy(reportOf(reply), { provider }), expected, reply);
});

/** A rule for each kind of condition, so that whatever is compared could meet one. */
const EAGER = new RuleTable(
  parseRules(`rules:
  - { id: codes, code: [4xx, 5xx], matches: 1, within: 1h, on: site, rest: true, for: 1h, source: a test }
  - { id: words, text: [mail, host, tried, the, not], matches: 1, within: 1h, on: site, rest: true, for: 1h, source: a test }`),
);

test('what Postrider reports itself meets no rule, even where it quotes a server', () => {
  const text = 'Not tried, after 5 failures in a row. Last: 421 4.7.0 [TSS04] temporarily deferred';
  for (const part of [
    { fact: 'network', text, smtpCode: null },
    { fact: 'network', text },
    { fact: 'relay', text },
    { phase: 'local', text },
    { phase: 'dns', text },
    { phase: 'simulated', text },
    { phase: 'dsn', text },
  ] as const)
    assert.deepEqual(metBy(reportOf('421 4.7.0 no', part), { rules: EAGER }), [], JSON.stringify(part));
  assert.deepEqual(metBy(reportOf('421 4.7.0 not tried'), { rules: EAGER }), ['codes', 'words']);
});

test('no sentence of the engine has the words of a rule', () => {
  const folders = ['src/queue', 'src/mail/smtp/client', 'src/mail'];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: folder === 'src/queue', encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  );
  const sentences = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(file, 'utf8').match(/'[^'\n]{12,}'|`[^`\n]{12,}`/g) ?? []);
  assert.ok(sentences.length > 300);
  const byWords = new RuleTable(
    packagedRules()
      .rules.filter(({ text }) => text.length > 0)
      .map((rule) => ({ ...rule, providers: [] })),
  );
  for (const sentence of sentences) {
    const met = byWords.match({
      report: reportOf('421 4.7.0 x', { text: sentence }),
      class: 'rate',
      provider: null,
      ownNames: [],
    });
    assert.deepEqual(met, [], sentence);
  }
});

/** Returns the message with which a changed copy of the packaged rules is refused. */
function refused(from: string | RegExp, to: string): string {
  const changed = packaged.replace(from, to);
  assert.notEqual(changed, packaged);
  try {
    parseRules(changed);
  } catch (error) {
    assert.equal((error as Error).name, 'DataTableError');
    return (error as Error).message;
  }
  throw new Error('the rules were taken');
}

test('a mistake in a rule is refused with its row', () => {
  assert.match(refused('matches: 2', 'matches: 0'), /^rules: row "yahoo-volume": matches /);
  assert.match(refused('within: 1h', 'within: 1 hour'), /^rules: row "yahoo-volume": within /);
  assert.match(
    refused('for: 2h', 'for: 8d'),
    /^rules: row "yahoo-volume": "within" and "for" are at most 7d/,
  );
  assert.match(
    refused('rest: true', 'rest: true, lower: { connections: 1 }'),
    /row "yahoo-volume": needs either/,
  );
  assert.match(refused('rest: true, ', ''), /row "yahoo-volume": needs either "rest" or "lower"/);
  assert.match(
    refused('provider: yahoo', 'provider: yahuu'),
    /row "yahoo-volume": config\/providers.yaml has no provider yahuu/,
  );
  assert.match(refused('text: tss04, ', ''), /row "yahoo-volume": needs a condition on the reply/);
  assert.match(
    refused('text: tss04', 'text: "* deferred"'),
    /row "yahoo-volume": the phrase "\* deferred" has no words/,
  );
  assert.match(
    refused('id: yahoo-complaints', 'id: yahoo-volume'),
    /row "yahoo-volume": another row has the same id/,
  );
  assert.match(
    refused('on: tenant\n    rest: true', 'on: tenant\n    lower: { connections: 1 }'),
    /row "tenant-authentication": a tenant can only rest/,
  );
  assert.match(
    refused('lower: { connections: 1 }', 'lower: {}'),
    /row "microsoft-connections": "lower" sets no limit/,
  );
  assert.match(refused('\nrules:', '\nrows:'), /^the file must/);
  assert.throws(() => parseRules('rules: ['), /DataTableError/);
});

test('hostile rules and replies are compared in bounded time', () => {
  const gaps = Array.from({ length: 30 }, () => 'a').join(' * ');
  const many = Array.from(
    { length: 500 },
    (_, index) =>
      `  - { id: r${index}, text: "${gaps} ${index}", matches: 1, within: 1h, on: site, rest: true, for: 1h, source: a test }`,
  );
  const rules = new RuleTable(parseRules(`rules:\n${many.join('\n')}`));
  const begunAt = process.cpuUsage().user;
  for (const text of ['a '.repeat(50_000), 'a'.repeat(100_000), 'a * '.repeat(20_000)])
    assert.deepEqual(metBy(reportOf('421 4.7.0 x', { text }), { rules }), []);
  assert.ok(
    process.cpuUsage().user - begunAt < 5_000_000,
    'three comparisons take seconds at most on the slowest machine',
  );
});
