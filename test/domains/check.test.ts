import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkRecords,
  evaluateDkim,
  evaluateDmarc,
  evaluateMx,
  evaluateReturnPath,
  evaluateSpf,
  evaluateTracking,
} from '../../src/domains/check.ts';
import type { TlsProbe } from '../../src/system/tls-probe.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { domainRow, HOSTNAME, PUBLIC_KEY, zoneOfDomain } from './fixtures.ts';

const probeTls: TlsProbe = async () => ({ kind: 'valid' });

const INCLUDE = '_spf.mx.postrider.example';
const TARGET = 'prabcdefgh.body._domainkey.mx.postrider.example';
const EXPECTED = { target: TARGET, key: { algorithm: 'rsa', publicKey: PUBLIC_KEY } } as const;
const found = (...records: string[]) => ({ kind: 'found' as const, records, ttlMs: 0 });
const absent = { kind: 'no-name' } as const;
const noData = { kind: 'no-data', ttlMs: 0 } as const;
const failed = { kind: 'failed', reason: 'ESERVFAIL' } as const;
const kindOf = (verdict: { kind: string }) => verdict.kind;

for (const record of [
  `v=spf1 include:${INCLUDE} ~all`,
  `v=spf1 mx a:x.example ip4:192.0.2.0/24 include:other.example +include:${INCLUDE} -all`,
  `V=SPF1 Include:${INCLUDE.toUpperCase()}.  ?all`,
  `v=spf1 include:${INCLUDE}`,
  `v=spf1 include:${INCLUDE} ${'ip4:192.0.2.1 '.repeat(20)}-all`,
  `v=spf1 include:${INCLUDE} ${'a '.repeat(9)}-all`,
]) {
  test(`SPF: "${record.slice(0, 60)}" lets us send`, () => {
    assert.deepEqual(evaluateSpf(found(record), INCLUDE), { kind: 'verified', found: [record] });
  });
}

for (const [record, error] of [
  ['v=spf1 -all', /must hold include/],
  ['v=spf1', /must hold include/],
  [`v=spf1 include:x${INCLUDE} -all`, /must hold include/],
  [`v=spf1 include:${INCLUDE}.evil.example -all`, /must hold include/],
  [`v=spf1 -include:${INCLUDE} -all`, /must hold include/],
  [`v=spf1 ~include:${INCLUDE} -all`, /must hold include/],
  [`v=spf1 ?include:${INCLUDE} -all`, /must hold include/],
  [`v=spf1 redirect=${INCLUDE}`, /must hold include/],
  [`v=spf1 -all include:${INCLUDE}`, /before "all"/],
] as const) {
  test(`SPF: "${record.slice(0, 60)}" is wrong`, () => {
    const verdict = evaluateSpf(found(record), INCLUDE);
    assert.ok(verdict.kind === 'wrong');
    assert.match(verdict.error, error);
    assert.deepEqual(verdict.found, [record]);
  });
}

test('SPF: two records are wrong even when one is ours, and other texts do not count', () => {
  const ours = `v=spf1 include:${INCLUDE} ~all`;
  const verdict = evaluateSpf(found('google-site-verification=1', ours, 'v=spf1 -all'), INCLUDE);
  assert.ok(verdict.kind === 'wrong');
  assert.match(verdict.error, /several SPF records/);
  assert.deepEqual(verdict.found, [ours, 'v=spf1 -all']);
  assert.equal(evaluateSpf(found('v=spf10 x', 'v=spf1x', ours, ' v=spf1 -all'), INCLUDE).kind, 'verified');
});

test('SPF: no record is absent, whatever else is there; a failure is unknown', () => {
  for (const answer of [absent, noData, found('hello', 'v=spf2.0/pra -all')]) {
    assert.equal(evaluateSpf(answer, INCLUDE).kind, 'absent');
  }
  const verdict = evaluateSpf(failed, INCLUDE);
  assert.ok(verdict.kind === 'unknown');
  assert.match(verdict.error, /ESERVFAIL/);
});

test('DKIM: the CNAME whose target holds our key is right, whatever its case and its final dot', () => {
  for (const name of [TARGET, `${TARGET.toUpperCase()}.`]) {
    const verdict = evaluateDkim(found(name), found(`v=DKIM1; k=rsa; p=${PUBLIC_KEY}`), EXPECTED);
    assert.deepEqual(verdict, { kind: 'verified', found: [name] });
  }
});

test('DKIM: the CNAME whose target holds nothing waits for the operator, and says for what', () => {
  for (const text of [absent, noData]) {
    const verdict = evaluateDkim(found(TARGET), text, EXPECTED);
    assert.ok(verdict.kind === 'absent');
    assert.deepEqual(verdict.found, [TARGET]);
    assert.match(
      verdict.error,
      /^The CNAME is right, but prabcdefgh\.body\._domainkey\.mx\.postrider\.example holds no key yet: .*operator.*"postrider domain records"/,
    );
  }
});

test('DKIM: the CNAME whose target holds another key, or more than the key, is wrong', () => {
  const ours = `v=DKIM1; k=rsa; p=${PUBLIC_KEY}`;
  for (const text of [found('v=DKIM1; p=AAAA'), found('v=DKIM1; p='), found(ours, 'hello')]) {
    const verdict = evaluateDkim(found(TARGET), text, EXPECTED);
    assert.ok(verdict.kind === 'wrong');
    assert.match(verdict.error, /The CNAME is right, but .* holds something else .*operator/);
    assert.deepEqual(verdict.found, [TARGET, ...text.records]);
  }
});

test('DKIM: the CNAME whose target cannot be asked says nothing', () => {
  const verdict = evaluateDkim(found(TARGET), failed, EXPECTED);
  assert.ok(verdict.kind === 'unknown');
  assert.match(verdict.error, /ESERVFAIL/);
});

test('DKIM: our key in a TXT record is enough, also through a CNAME of the owner, or when the CNAME cannot be asked', () => {
  for (const text of [
    `v=DKIM1; k=rsa; p=${PUBLIC_KEY}`,
    `p=${PUBLIC_KEY}`,
    `v=DKIM1;p=${PUBLIC_KEY.slice(0, 9)} ${PUBLIC_KEY.slice(9)};`,
  ]) {
    for (const alias of [noData, absent, failed, found('keys.example.com')]) {
      const verdict = evaluateDkim(alias, found(text), EXPECTED);
      assert.deepEqual(verdict, { kind: 'verified', found: [text] });
    }
  }
});

test('DKIM: another key, a revoked one, another target or several texts are wrong', () => {
  const ours = `v=DKIM1; k=rsa; p=${PUBLIC_KEY}`;
  for (const [alias, text, error] of [
    [noData, found(`v=DKIM1; p=${PUBLIC_KEY}AA`), /must be a CNAME/],
    [noData, found('v=DKIM1; p='), /must be a CNAME/],
    [noData, found('hello'), /must be a CNAME/],
    [found(`x${TARGET}`), absent, /must be a CNAME/],
    [noData, found(ours, 'v=DKIM1; p=AAAA'), /several TXT records/],
  ] as const) {
    const verdict = evaluateDkim(alias, text, EXPECTED);
    assert.ok(verdict.kind === 'wrong');
    assert.match(verdict.error, error);
    assert.ok(verdict.found.length > 0);
  }
});

test('DKIM: nothing is absent, and a failure is unknown unless the other answer is right', () => {
  assert.equal(evaluateDkim(absent, absent, EXPECTED).kind, 'absent');
  assert.equal(evaluateDkim(noData, absent, EXPECTED).kind, 'absent');
  assert.equal(evaluateDkim(failed, absent, EXPECTED).kind, 'unknown');
  assert.equal(evaluateDkim(noData, failed, EXPECTED).kind, 'unknown');
  assert.equal(evaluateDkim(found('other.example'), failed, EXPECTED).kind, 'unknown');
  assert.equal(evaluateDkim(failed, found('v=DKIM1; p=AAAA'), EXPECTED).kind, 'unknown');
});

test('DMARC: any policy is right', () => {
  for (const record of [
    'v=DMARC1; p=none',
    'v=DMARC1;p=reject',
    'v = DMARC1 ; P = Quarantine ; rua=mailto:a@example.com; sp=reject;',
  ]) {
    assert.deepEqual(evaluateDmarc(found('other', record), null), { kind: 'verified', found: [record] });
  }
});

test('DMARC: no policy, an unknown one, two in one record, or two records are wrong', () => {
  for (const records of [
    ['v=DMARC1'],
    ['v=DMARC1; rua=mailto:a@example.com'],
    ['v=DMARC1; p=nothing'],
    ['v=DMARC1; p=none; p=reject'],
    ['v=DMARC1; sp=none'],
    ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
  ]) {
    assert.equal(kindOf(evaluateDmarc(found(...records), null)), 'wrong', records.join(' | '));
  }
});

test('DMARC: nothing of the kind is absent; a failure is unknown', () => {
  for (const answer of [absent, noData, found('p=none; v=DMARC1', 'v=dmarc1; p=none', 'v=DMARC12; p=none')]) {
    assert.equal(evaluateDmarc(answer, null).kind, 'absent');
  }
  assert.equal(evaluateDmarc(failed, null).kind, 'unknown');
});

test('DMARC: the policy of a parent counts where the domain has no record of its own, and is not needed where it has one', async () => {
  const kindIn = async (zone: string) => {
    const app = { dns: zoneDns(zone), config: { hostname: HOSTNAME }, probeTls };
    const { DMARC, parentPolicy } = await checkRecords(app, domainRow('ten_a', { name: 'news.example.com' }));
    return [DMARC.kind, parentPolicy?.policy];
  };
  const parent = '_dmarc.example.com TXT "v=DMARC1; p=none; sp=reject"';
  assert.deepEqual(await kindIn(parent), ['verified', 'reject']);
  assert.deepEqual(await kindIn(`${parent}\n_dmarc.news.example.com TXT "v=DMARC1; p=none"`), [
    'verified',
    'reject',
  ]);
  assert.deepEqual(await kindIn(`${parent}\n_dmarc.news.example.com TXT "v=DMARC1; p=x"`), [
    'wrong',
    'reject',
  ]);
  assert.deepEqual(await kindIn(''), ['absent', undefined]);
  assert.equal(evaluateDmarc(absent, undefined).kind, 'unknown', 'the parents could not be asked');
});

test('SPF: a record that receivers cannot evaluate is wrong and says why, and one whose includes cannot be asked is unknown', async () => {
  const spfIn = async (record: string) => {
    const dns = zoneDns(`example.com TXT "${record}"`);
    dns.fail('dead.example', 'ESERVFAIL');
    return (await checkRecords({ dns, config: { hostname: HOSTNAME }, probeTls }, domainRow('ten_a'))).SPF;
  };
  const ours = `v=spf1 include:_spf.${HOSTNAME}`;
  assert.equal(
    (await spfIn(`${ours} ~all`)).kind,
    'verified',
    'the included record is the business of the operator',
  );
  for (const [record, reason] of [
    [`${ours} ip4:999.1.1.1 ~all`, /"ip4:999\.1\.1\.1" is wrong/],
    [`${ours} include:nothing.example ~all`, /"include:nothing\.example" leads to no SPF record/],
  ] as const) {
    const verdict = await spfIn(record);
    assert.ok(verdict.kind === 'wrong');
    assert.match(verdict.error, reason);
    assert.deepEqual(verdict.found, [record]);
  }
  assert.equal((await spfIn(`${ours} include:dead.example ~all`)).kind, 'unknown');
});

test('TRACKING: a CNAME to our host, whatever its case, and nothing else', () => {
  const target = 'track.mx.postrider.example';
  for (const name of [target, 'Track.MX.postrider.example.']) {
    assert.deepEqual(evaluateTracking(found(name), target), { kind: 'verified', found: [name] });
  }
  for (const answer of [absent, noData]) assert.equal(evaluateTracking(answer, target).kind, 'absent');
  const verdict = evaluateTracking(found(`x${target}`), target);
  assert.ok(verdict.kind === 'wrong');
  assert.match(verdict.error, /must be a CNAME to track\.mx\.postrider\.example/);
  assert.equal(evaluateTracking(failed, target).kind, 'unknown');
});

test('RETURN_PATH: only a CNAME to our host, where SPF is published, is right', () => {
  const target = 'bounce.mx.postrider.example';
  const spf = found('hello', 'v=spf1 ip4:192.0.2.1 -all');
  const right = evaluateReturnPath(found('Bounce.MX.postrider.example.'), spf, target);
  assert.deepEqual(right, { kind: 'verified', found: ['Bounce.MX.postrider.example.'] });
  assert.equal(evaluateReturnPath(absent, absent, target).kind, 'absent');
  assert.equal(
    evaluateReturnPath(noData, spf, target).kind,
    'absent',
    'an SPF record of its own is no CNAME',
  );
  assert.equal(evaluateReturnPath(found('bounce.other.example'), spf, target).kind, 'wrong');
  for (const answer of [failed, absent])
    assert.equal(evaluateReturnPath(failed, answer, target).kind, 'unknown');
  assert.equal(evaluateReturnPath(found(target), failed, target).kind, 'unknown');
});

test('RETURN_PATH: a CNAME whose target holds no SPF record is not verified, and names the record that the operator must publish', () => {
  const target = 'bounce.mx.postrider.example';
  for (const text of [absent, noData, found('v=spf10', 'hello')]) {
    const verdict = evaluateReturnPath(found(target), text, target);
    assert.ok(verdict.kind === 'absent');
    assert.deepEqual(verdict.found, [target]);
    assert.match(verdict.error, /^The CNAME is right, .* no SPF record yet: .*"postrider domain records"/);
  }
});

test('MX: one record that names this machine is enough, whatever its preference, its case and its neighbours', () => {
  const mx = (...hosts: [preference: number, exchange: string][]) => ({
    ...{ kind: 'found' as const, ttlMs: 0 },
    records: hosts.map(([preference, exchange]) => ({ preference, exchange })),
  });
  assert.deepEqual(evaluateMx(mx([10, HOSTNAME]), HOSTNAME), { kind: 'verified', found: [`10 ${HOSTNAME}`] });
  const others = evaluateMx(mx([0, 'mx.other.example'], [99, `${HOSTNAME.toUpperCase()}.`]), HOSTNAME);
  assert.deepEqual(others, {
    kind: 'verified',
    found: ['0 mx.other.example', `99 ${HOSTNAME.toUpperCase()}.`],
  });
  for (const [answer, error] of [
    [absent, /No MX record/],
    [noData, /No MX record/],
    [mx([0, '']), /null MX/],
    [
      mx([10, 'mx.other.example'], [20, `x.${HOSTNAME}`]),
      /goes to other hosts; .* once an MX record names mx\.postrider/,
    ],
  ] as const) {
    const verdict = evaluateMx(answer, HOSTNAME);
    assert.ok(verdict.kind === 'absent', 'a domain may receive elsewhere: that is no fault');
    assert.match(verdict.error, error);
  }
  assert.deepEqual(evaluateMx(mx([0, '']), HOSTNAME), {
    ...evaluateMx(mx([0, '']), HOSTNAME),
    found: ['0 .'],
  });
  assert.equal(evaluateMx(failed, HOSTNAME).kind, 'unknown');
});

test('records found in DNS lose the characters that hide or reorder text before they are stored', () => {
  const verdict = evaluateSpf(found('v=spf1 \u202einclude:evil.example\x1b[2J \u200b-all\0'), INCLUDE);
  assert.ok('found' in verdict);
  assert.deepEqual(verdict.found, ['v=spf1 include:evil.example[2J -all']);
});

test('records that others publish are cut before they are stored', () => {
  const verdict = evaluateSpf(
    found(...Array.from({ length: 50 }, () => `v=spf1 ${'😀'.repeat(2_000)}`)),
    INCLUDE,
  );
  assert.ok('found' in verdict);
  assert.equal(verdict.found.length, 10);
  assert.ok(verdict.found.every((text) => text.length <= 1_000 && text.isWellFormed()));
});

test('the records we ask for are the records we accept, in either form of DKIM', async () => {
  const domain = domainRow('ten_a', { trackingSubdomain: 'links.example.com' });
  const config = { hostname: HOSTNAME };
  const kinds = async (zone: string) => {
    const { SPF, DKIM, DMARC, tracking } = await checkRecords(
      { dns: zoneDns(zone), config, probeTls },
      domain,
    );
    assert.equal(tracking?.host, 'links.example.com');
    return [SPF, DKIM, DMARC, tracking.verdict].map(kindOf);
  };
  const text = `prabcdefgh._domainkey.example.com TXT "v=DKIM1; k=rsa; p=${PUBLIC_KEY}"`;
  for (const zone of [zoneOfDomain(domain), zoneOfDomain(domain, { DKIM: text })]) {
    assert.deepEqual(await kinds(zone), ['verified', 'verified', 'verified', 'verified']);
  }
  assert.deepEqual(await kinds(''), ['absent', 'absent', 'absent', 'absent']);
});

test('a tracking host needs a certificate beside its CNAME, which is looked at where our own host is', async () => {
  const domain = domainRow('ten_a', { trackingSubdomain: 'links.example.com' });
  const probed: unknown[] = [];
  const verdictFor = async (state: Awaited<ReturnType<TlsProbe>>, zone = zoneOfDomain(domain)) => {
    const probe: TlsProbe = async (target) => {
      probed.push(target);
      return state;
    };
    const app = { dns: zoneDns(zone), config: { hostname: HOSTNAME }, probeTls: probe };
    return (await checkRecords(app, domain)).tracking?.verdict;
  };
  assert.equal((await verdictFor({ kind: 'valid' }))?.kind, 'verified');
  assert.deepEqual(probed, [{ name: 'links.example.com', server: `track.${HOSTNAME}`, port: 443 }]);
  const reason = 'CERT_HAS_EXPIRED';
  const [invalid, unseen] = [
    await verdictFor({ kind: 'invalid', reason }),
    await verdictFor({ kind: 'unreachable', reason }),
  ];
  assert.ok(
    invalid?.kind === 'wrong' &&
      /certificate for links\.example\.com is not \(CERT_HAS_EXPIRED\)/.test(invalid.error),
  );
  assert.ok(unseen?.kind === 'unknown' && /could not be seen \(CERT_HAS_EXPIRED\)/.test(unseen.error));
  probed.length = 0;
  assert.equal((await verdictFor({ kind: 'valid' }, 'links.example.com CNAME evil.example'))?.kind, 'wrong');
  assert.deepEqual(probed, [], 'a name that leads elsewhere is not connected to');
});

test('a domain without a tracking host is not asked about one', async () => {
  const dns = zoneDns(zoneOfDomain(domainRow('ten_a')));
  const asked: string[] = [];
  const cname = (name: string) => {
    asked.push(name);
    return dns.cname(name);
  };
  const app = { dns: { ...dns, cname }, config: { hostname: HOSTNAME }, probeTls };
  assert.equal((await checkRecords(app, domainRow('ten_a'))).tracking, null);
  assert.deepEqual(asked, ['prabcdefgh._domainkey.example.com', 'bounce.example.com']);
});

test('the records of one tenant do not verify another that has the same domain', async () => {
  const [one, other] = [
    domainRow('ten_a', { id: 'dom_00000000000000000000000001' }),
    domainRow('ten_b', { id: 'dom_00000000000000000000000002', publicKey: `${PUBLIC_KEY}AA` }),
  ];
  const dns = zoneDns(zoneOfDomain(one));
  const verdicts = await checkRecords({ dns, config: { hostname: HOSTNAME }, probeTls }, other);
  assert.equal(verdicts.DKIM.kind, 'wrong');
});

test('the SPF record of the return path is asked for only once its CNAME is right', async () => {
  const asked = async (zone: string) => {
    const dns = zoneDns(zone);
    const texts: string[] = [];
    const txt = (name: string) => {
      texts.push(name);
      return dns.txt(name);
    };
    const app = { dns: { ...dns, txt }, config: { hostname: HOSTNAME }, probeTls };
    await checkRecords(app, domainRow('ten_a'));
    return texts.includes('bounce.example.com');
  };
  assert.equal(await asked(''), false);
  assert.equal(await asked('bounce.example.com CNAME elsewhere.example'), false);
  assert.equal(await asked(`bounce.example.com CNAME bounce.${HOSTNAME}`), true);
});

test('the return path is verified by the CNAME of the owner and the SPF record of the operator together', async () => {
  const kindIn = async (zone: string, name = 'example.com') => {
    const app = { dns: zoneDns(zone), config: { hostname: HOSTNAME }, probeTls };
    return (await checkRecords(app, domainRow('ten_a', { name }))).returnPath?.kind;
  };
  const alias = `bounce.example.com CNAME bounce.${HOSTNAME}`;
  assert.equal(await kindIn(`${alias}\nbounce.${HOSTNAME} TXT "v=spf1 ip4:192.0.2.1 -all"`), 'verified');
  assert.equal(await kindIn(alias), 'absent');
  assert.equal(await kindIn(''), 'absent');
  assert.equal(await kindIn('', `${'a.'.repeat(110)}com`), undefined, 'a name too long to have one');
});

test('the MX records are those of the domain itself', async () => {
  const kindIn = async (zone: string) => {
    const app = { dns: zoneDns(zone), config: { hostname: HOSTNAME.toUpperCase() }, probeTls };
    return (await checkRecords(app, domainRow('ten_a'))).mx.kind;
  };
  assert.equal(await kindIn(`example.com MX 10 ${HOSTNAME}`), 'verified');
  assert.equal(await kindIn(`www.example.com MX 10 ${HOSTNAME}`), 'absent');
});
