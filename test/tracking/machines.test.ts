/** Requests of mail apps, proxies, gateways and people, each with its verdict. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type DueEngagement, type EmailFacts, findBursts } from '../../src/tracking/classification/store.ts';
import { classify, readScannerNetworks } from '../../src/tracking/classify.ts';
import { MACHINE_CASES, type MachineCase } from '../fixtures/machines.ts';

const ACCEPTED_AT = Date.UTC(2026, 10, 23, 9);
/** The address of a private person. */
const IP = '203.0.113.9';
const networks = readScannerNetworks();

function requestOf(one: MachineCase): DueEngagement {
  return {
    id: 1,
    emailId: 'em_1',
    kind: one.kind,
    link: one.kind === 'click' ? 0 : null,
    at: ACCEPTED_AT + one.afterMs,
    ip: one.ip ?? IP,
    userAgent: one.userAgent,
    isHead: one.isHead ? 1 : 0,
    isPrefetch: one.isPrefetch ? 1 : 0,
  };
}

function factsOf(one: MachineCase): EmailFacts {
  const request = requestOf(one);
  const others = (one.otherLinksAfterMs ?? []).map((afterMs, index) => ({
    at: ACCEPTED_AT + afterMs,
    link: index + 1,
    ip: request.ip,
  }));
  const clicks = request.kind === 'click' ? [request, ...others] : others;
  return {
    attempts: [{ at: ACCEPTED_AT, durationMs: 900 }],
    isInFlight: false,
    bursts: findBursts(clicks.toSorted((a, b) => a.at - b.at)),
  };
}

for (const one of MACHINE_CASES) {
  test(`${one.kind}: ${one.name}`, () => {
    assert.equal(classify(requestOf(one), factsOf(one), networks) ?? 'human', one.verdict);
    assert.match(one.source, /^https:\/\//);
  });
}

const person = MACHINE_CASES.find(({ name }) => name.startsWith('a person with Chrome')) as MachineCase;
const facts = factsOf(person);

test('a request while a server is being shown the email is one of its content filter', () => {
  const shown = { ...facts, attempts: [], isInFlight: true };
  assert.equal(classify(requestOf(person), shown, networks), 'too_soon');
});

test('an email whose attempts retention has deleted is classified by the other signals', () => {
  assert.equal(classify(requestOf({ ...person, afterMs: 0 }), { ...facts, attempts: [] }, networks), null);
});

test('an open of another client during a burst is a person', () => {
  const click = { at: ACCEPTED_AT + 60_000, link: 1, ip: '198.51.100.1' };
  const bursts = findBursts([1, 2, 3].map((link) => ({ ...click, link })));
  const open = { ...requestOf(person), kind: 'open', link: null, at: click.at } as const;
  assert.equal(classify(open, { ...facts, bursts }, networks), null);
  assert.equal(classify({ ...open, ip: click.ip }, { ...facts, bursts }, networks), 'many_links');
});

test('networks apply to their scope, in IPv4 and IPv6', () => {
  assert.equal(networks.includes('2a01:111:f400:fe08::1', 'click'), true);
  assert.equal(networks.includes('2a01:111:f400:fe08::1', 'open'), false);
  assert.equal(networks.includes('64.235.144.1', 'open'), true);
  assert.equal(networks.includes('64.235.160.1', 'open'), false);
  for (const text of [null, '', 'unknown', '64.235.144.1:80'])
    assert.equal(networks.includes(text, 'click'), false);
  const opens = readScannerNetworks([{ name: 'opens', scope: 'open', cidrs: ['192.0.2.0/24'] }]);
  assert.deepEqual(
    [opens.includes('192.0.2.1', 'open'), opens.includes('192.0.2.1', 'click')],
    [true, false],
  );
});

test('a file with an unknown scope or a wrong network is refused', () => {
  assert.throws(
    () => readScannerNetworks([{ name: 'Acme', scope: 'all', cidrs: [] }]),
    /the scanner network "Acme" has the unknown scope "all"/,
  );
  assert.throws(
    () => readScannerNetworks([{ name: 'Acme', scope: 'both', cidrs: ['192.0.2.0'] }]),
    /"192\.0\.2\.0" is not a CIDR/,
  );
});

test('each network of the file has a source and a reason, and Microsoft is classified by its clicks only', () => {
  const file = JSON.parse(readFileSync('config/scanner-networks.json', 'utf8')) as {
    networks: { name: string; scope: string; source: string; why: string; cidrs: string[] }[];
  };
  for (const { source, why, cidrs } of file.networks) {
    assert.match(source, /https:\/\//);
    assert.ok(why.length > 20 && cidrs.length > 0);
  }
  const microsoft = file.networks.filter(({ name }) => name.startsWith('Microsoft'));
  assert.deepEqual(new Set(microsoft.map(({ scope }) => scope)), new Set(['click']));
  assert.ok(microsoft.length > 0);
});
