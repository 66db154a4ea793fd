import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { domains } from '../../../src/doctor/checks/domains.ts';
import { examineDomain } from '../../../src/doctor/examine.ts';
import { lines, openDoctorWorld } from '../support.ts';

const world = await openDoctorWorld();
after(() => world.close());

const OPERATOR = `mx.postrider.example A 192.0.2.1
  _spf.mx.postrider.example TXT "v=spf1 ip4:192.0.2.1 -all"`;

type Shown = {
  id: string;
  records: { name: string; type: string; value: string; alternative?: Shown['records'][0] }[];
};

/** Adds a domain and returns it with the zone text of its records. */
async function addDomain(name: string): Promise<{ id: string; zone: string }> {
  const { body } = await world.request('POST', '/v1/domains', { body: { name } });
  const { id, records } = body as Shown;
  const zone = records
    .map((record) => record.alternative ?? record)
    .map(({ name: owner, type, value }) => `${owner} ${type} "${value}"`)
    .join('\n');
  return { id, zone: `${OPERATOR}\n${zone}` };
}

test('a domain by name is asked for in DNS: what is right, what is missing, and pct', async () => {
  const { zone } = await addDomain('shop.example');
  world.dns.setZone(zone);
  const right = lines(await examineDomain(world.context, 'Shop.Example.'));
  for (const kind of ['SPF', 'DKIM', 'DMARC'])
    assert.ok(
      right.some((line) => line.startsWith(`ok ${kind} shop.example: `)),
      right.join('\n'),
    );
  assert.ok(right.some((line) => line.startsWith('warn RETURN_PATH shop.example: ')));

  world.dns.setZone(zone.replace(/np=reject/, 'pct=50').replace(/^shop\.example TXT.*$/m, ''));
  const wrong = lines(await examineDomain(world.context, 'shop.example'));
  assert.ok(
    wrong.some((line) => line.startsWith('fail SPF shop.example: No SPF record')),
    wrong.join('\n'),
  );
  assert.ok(wrong.includes('warn pct of shop.example: its DMARC record has pct, which receivers ignore'));
  await assert.rejects(examineDomain(world.context, 'none.example'), { code: 'not_found' });
});

test('an SPF record with more than ten lookups fails', async () => {
  const { zone } = await addDomain('many.example');
  const includes = Array.from({ length: 11 }, () => 'a:mx.postrider.example').join(' ');
  world.dns.setZone(zone.replace('many.example TXT "v=spf1 ', `many.example TXT "v=spf1 ${includes} `));
  const found = lines(await examineDomain(world.context, 'many.example'));
  assert.match(found.join('\n'), /^fail SPF many\.example: .*more than 10 lookups/m);
});

test('all domains are reviewed by what their last checks found; one that was never verified is its owner’s business', async () => {
  const review = async () => lines(await domains.run(world.context));
  assert.deepEqual(await review(), ['ok domains: the records of all verified domains are right']);
  const { id, zone } = await addDomain('news.example');
  const verify = async (text: string) => {
    world.dns.setZone(text);
    await world.request('POST', `/v1/domains/${id}/verify`);
  };
  await verify(zone.replace(/np=reject/, 'pct=50'));
  const subject = `news.example of ${world.tenantId}`;
  assert.deepEqual(await review(), [`warn ${subject}: its DMARC record has pct, which receivers ignore`]);
  await verify(zone.replace(/^news\.example TXT.*$/m, ''));
  assert.match((await review()).join(), /^fail news\.example of ten_\w+: SPF: No SPF record/);
});
