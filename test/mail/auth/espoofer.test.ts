/**
 * The published cases of espoofer (Chen, Paxson, Jiang: "Composition Kills", USENIX Security 2020): 19 that a stranger
 * sends, and 3 that a user of a mail service sends, which arrive here from a host that its domain permits.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatResultsField } from '../../../src/mail/auth/results-field.ts';
import { evaluateMessage } from '../../../src/mail/auth/verdict.ts';
import { createTestAuthenticator } from '../../support/authenticator.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { rsaTestKey, signTestMessage } from '../../support/sign-message.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const KEY = rsaTestKey();
/** The attacker has a domain, a key and a host; the domain that is forged asks for forged mail to be refused. */
const DNS = zoneDns(`
  legitimate.com                   TXT "v=spf1 ip4:198.51.100.0/24 -all"
  _dmarc.legitimate.com            TXT "v=DMARC1; p=reject"
  attack.com                       TXT "v=spf1 ip4:192.0.2.1 -all"
  33.attack.com                    TXT "v=spf1 ip4:192.0.2.1 -all"
  helo.attack.com                  TXT "v=spf1 ip4:192.0.2.1 -all"
  any.attack.com                   TXT "v=spf1 ip4:192.0.2.1 -all"
  selector._domainkey.attack.com   TXT "${KEY.record}"
  example.com                      TXT "v=spf1 ip4:192.0.2.1 -all"
  _dmarc.example.com               TXT "v=DMARC1; p=reject"
`);

type Case = {
  sender?: string;
  helo?: string;
  from: string;
  /** Other fields, each with its CRLF. */
  fields?: string;
  sign?: { domain: string; selector: string };
};

const BASE64 = Buffer.from('<admin@legitimate.com>').toString('base64');
const ADMIN = 'From: <admin@legitimate.com>';
const CASES: Readonly<Record<string, Case>> = {
  a1: { sender: 'any@mailfrom.notexist.legitimate.com', helo: 'helo.attack.com', from: ADMIN },
  a2: { sender: '(any@legitimate.com', from: ADMIN },
  a3: {
    sender: 'any@33.attack.com',
    helo: '33.attack.com',
    from: ADMIN,
    sign: { domain: 'legitimate.com', selector: 'selector._domainkey.attack.com.\0.any' },
  },
  a4: { from: ADMIN, sign: { domain: "legitimate.com'a.attack.com", selector: 'selector' } },
  a5: { sender: 'any@legitimate.com(a.attack.com', from: ADMIN },
  a6: { sender: "any@legitimate.com'@any.attack.com", from: ADMIN },
  a7: { sender: "@legitimate.com,@any.com:'any@attack.com", from: ADMIN },
  a8: { from: 'From: <first@attack.com>\r\nFrom: <admin@legitimate.com>' },
  a9: { from: ' From: <first@attack.com>\r\nFrom: <admin@legitimate.com>' },
  a10: { from: 'From: <first@attack.com>\r\nFrom : <admin@legitimate.com>' },
  a11: { from: 'From\r\n : <first@attack.com>\r\nFrom: <admin@legitimate.com>' },
  a12: { from: 'From\r\n : <first@attack.com>', fields: 'Sender: <admin@legitimate.com>\r\n' },
  a13: { from: 'From\r\n : <first@attack.com>', fields: 'Resent-From: <admin@legitimate.com>\r\n' },
  a14: { from: 'From: <first@attack.com>, <admin@legitimate.com>' },
  a15: { from: `From:=?utf-8?B?${BASE64}?=,<second@attack.com>` },
  a16: { from: 'From: <@attack.com,@any.com:admin@legitimate.com>' },
  a17: { from: 'From: <admin@legitimate.com>\\,<second@attack.com>' },
  a18: { from: 'From: admin@legitimate.com,<second@attack.com>' },
  a19: { from: 'From: <any@attack.com>admin@legitimate.com' },
  client_a1: {
    sender: 'attacker@example.com',
    from: 'From: <attacker@example.com>\r\nFrom: <admin@example.com>',
  },
  client_a2: { sender: 'attacker@example.com', from: 'From: <attacker@example.com>, <admin@example.com>' },
  client_a3: { sender: 'attacker@example.com', from: 'From: <admin@example.com>' },
};

function messageOf({ from, fields = '', sign }: Case): string {
  const message = `${from}\r\n${fields}To: <victim@victim.com>\r\nSubject: Hi\r\n\r\nBest wishes.\r\n`;
  return sign ? signTestMessage(message, { key: KEY, ...sign, names: ['From'] }) : message;
}

async function receive(espoofed: Case) {
  const clock = createFakeClock(0);
  const authenticator = createTestAuthenticator({ dns: DNS, clock, log: recordLog().log });
  const authentication = authenticator.begin({
    owner: 'a',
    address: '192.0.2.1',
    helo: espoofed.helo ?? 'attack.com',
    sender: espoofed.sender ?? 'any@attack.com',
    hostname: 'mx.victim.com',
  });
  authentication.write(Buffer.from(messageOf(espoofed), 'latin1'));
  const result = await authentication.finish();
  return { result, verdict: evaluateMessage(result, { isNotification: false, trustedSealers: [] }) };
}

/**
 * Cases in which nobody is forged: the author that a reader sees is the attacker's own domain (a Sender or a Resent-From
 * is no author), or an address of the domain whose service has taken the message from its user.
 */
const HONEST: readonly string[] = ['a12', 'a13', 'client_a3'];

test('no message of the 22 cases is accepted as one of the domain that it forges, or has a result for it', async () => {
  for (const [name, espoofed] of Object.entries(CASES)) {
    const { result, verdict } = await receive(espoofed);
    const field = formatResultsField('mx.victim.com', result).replace(/"(?:[^"\\]|\\.)*"/g, '~');
    for (const one of field.split(';')) assert.doesNotMatch(one, /=pass[^;]*legitimate/, `${name}: ${field}`);
    assert.doesNotMatch(field, /['"()\\\0]/, name);
    if (HONEST.includes(name)) continue;
    assert.equal(verdict.kind, 'refuse', name);
    assert.notEqual(result.dmarc.result, 'pass', name);
  }
});

test('a Sender or a Resent-From is no author, and the author is shown as what passed', async () => {
  for (const name of HONEST.slice(0, 2)) {
    const { result, verdict } = await receive(CASES[name] ?? assert.fail(name));
    assert.deepEqual(result.from.addresses, ['first@attack.com'], name);
    assert.deepEqual([result.dmarc.domain, verdict.kind], ['attack.com', 'accept'], name);
  }
});
