import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markName, markOf, planUpdate, type Situation, zoneOf } from '../../src/dns-updates/plan.ts';

const NAME = 'mx.example.com';
const MARK = markOf('ins_1', 'TXT');
const SPF = 'v=spf1 include:_spf.mx.example.com -all';
const set = (values: readonly string[]) => ({ name: NAME, type: 'TXT' as const, values });
const marks = (values: readonly string[]) => ({ name: markName(NAME), type: 'TXT' as const, values });
const situation = (fields: Partial<Situation>): Situation => ({
  zone: 'example.com',
  mark: MARK,
  wanted: set([SPF]),
  found: [],
  marks: [],
  written: [],
  ...fields,
});
const update = (fields: Partial<Situation>) => {
  const plan = planUpdate(situation(fields));
  assert.equal(plan.kind, 'update');
  return plan.kind === 'update' ? plan.update : undefined;
};

test('a record that is missing is added with a mark, provided that nothing is there', () => {
  assert.deepEqual(update({}), {
    zone: 'example.com',
    expected: [set([]), marks([])],
    added: [set([SPF]), marks([MARK])],
    removed: [set([]), marks([])],
  });
});

test('a text of another kind stays beside it, and the update holds only while it is as it was seen', () => {
  const found = ['site-verification=1'];
  assert.deepEqual(update({ found })?.expected, [set(found), marks([])]);
  assert.deepEqual(update({ found })?.removed, [set([]), marks([])]);
});

test('a second SPF record is never published beside one that is there', () => {
  const plan = planUpdate(situation({ found: ['v=spf1 mx -all'] }));
  assert.equal(plan.kind, 'conflict');
  assert.match(plan.kind === 'conflict' ? plan.advice : '', /v=spf1 mx -all.*merge/);
});

test('a record that somebody else has published is in place, and is not ours', () => {
  assert.deepEqual(planUpdate(situation({ found: [SPF] })), { kind: 'in_place', isOwned: false });
  assert.deepEqual(planUpdate(situation({ found: [SPF], marks: [MARK] })), {
    kind: 'in_place',
    isOwned: true,
  });
});

test('a value that was written here is replaced; one that was changed there, or without a mark, stays', () => {
  const old = 'v=spf1 include:_spf.old.example.com -all';
  const replaced = update({ found: [old, 'x'], marks: [MARK], written: [old] });
  assert.deepEqual(
    [replaced?.added, replaced?.removed],
    [
      [set([SPF]), marks([])],
      [set([old]), marks([])],
    ],
  );
  const changed = 'v=spf1 include:_spf.old.example.com ip4:192.0.2.9 -all';
  assert.equal(planUpdate(situation({ found: [changed], marks: [MARK], written: [old] })).kind, 'conflict');
  assert.equal(planUpdate(situation({ found: [old], written: [old] })).kind, 'conflict');
  const foreign = markOf('ins_2', 'TXT');
  assert.equal(planUpdate(situation({ found: [old], marks: [foreign], written: [old] })).kind, 'conflict');
});

test('a name that is not printed any more loses our values and our mark alone', () => {
  const other = markOf('ins_1', 'MX');
  const gone = update({ wanted: set([]), found: [SPF, 'x'], marks: [MARK, other], written: [SPF] });
  assert.deepEqual(
    [gone?.added, gone?.removed],
    [
      [set([]), marks([])],
      [set([SPF]), marks([MARK])],
    ],
  );
  const changed = update({ wanted: set([]), found: ['x'], marks: [MARK], written: [SPF] });
  assert.deepEqual(changed?.removed, [set([]), marks([MARK])]);
  assert.equal(planUpdate(situation({ wanted: set([]), found: [SPF], written: [SPF] })).kind, 'in_place');
});

test('an alias stands alone: it needs a name that is not in use, and nothing is added beside it', () => {
  const wanted = { name: NAME, type: 'CNAME' as const, values: ['mx.example.net'] };
  assert.equal(update({ wanted })?.unused, NAME);
  assert.equal(planUpdate(situation({ found: undefined })).kind, 'conflict');
  assert.equal(planUpdate(situation({ wanted, found: ['www.example.com'] })).kind, 'conflict');
});

test('a name belongs to the longest zone above it, and a wildcard has its mark beside it', () => {
  const zones = ['example.com', 'mx.example.com'];
  assert.equal(zoneOf('a.mx.example.com', zones), 'mx.example.com');
  assert.equal(zoneOf('example.com', zones), 'example.com');
  assert.equal(zoneOf('badexample.com', zones), undefined);
  assert.equal(markName('*.a.example.com'), '_postrider._wildcard.a.example.com');
});
