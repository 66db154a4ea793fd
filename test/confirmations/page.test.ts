/** Tests of the page behind a confirmation link: languages, headers, forged tokens and hostile forms. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLinks } from '../../src/links/links.ts';
import { CONFIRM, FORM, openWorld, type World } from './world.ts';

let world: World;
let email: string;
let path: string;
before(async () => {
  world = await openWorld();
  email = 'Große@rcpt.example'.replace('ß', 'ss');
  await world.signUp(email);
  await world.work();
  path = await world.linkTo(email);
});
after(() => world[Symbol.asyncDispose]());

const status = async () => (await world.contact(email)).status;

test('the page has one button, speaks the language of the reader and masks the address', async () => {
  const words = {
    en: /Do you want to receive mail from Acme News at G•••@rcpt\.example/,
    de: /Möchten Sie E-Mails von Acme News an G•••@rcpt\.example erhalten/,
    fr: /Souhaitez-vous recevoir les e-mails de Acme News à l’adresse G•••@rcpt\.example/,
    es: /¿Quiere recibir correos de Acme News en G•••@rcpt\.example/,
  };
  for (const [language, expected] of Object.entries(words)) {
    const { statusCode, headers, body } = await world.get(path, {
      'accept-language': `xx,${language}-XX;q=0.8`,
    });
    assert.equal(statusCode, 200);
    assert.match(body, expected);
    assert.match(body, new RegExp(`<html lang="${language}">`));
    assert.equal(body.match(/<button/g)?.length, 1);
    assert.ok(!body.includes(email));
    assert.doesNotMatch(body, /<script|style=/);
    assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'self'/);
    assert.deepEqual(
      [headers['cache-control'], headers['x-robots-tag'], headers['referrer-policy'], headers['set-cookie']],
      ['no-store', 'noindex', 'no-referrer', undefined],
    );
  }
});

test('the page works without a sender, and after its audience is gone it says so', async () => {
  const audience = await world.addAudience();
  await world.signUp('x@rcpt.example', {}, audience);
  await world.work();
  const link = await world.linkTo('x@rcpt.example');
  await world.ask('PATCH', `/audiences/${audience}`, { optIn: null });
  assert.match((await world.get(link)).body, /receive newsletters at x•••@rcpt\.example/);
  await world.ask('DELETE', `/audiences/${audience}`);
  for (const answer of [await world.get(link), await world.post(link)]) assert.equal(answer.statusCode, 410);
});

test('a link with any character changed, added or left out is answered 404, and confirms nobody', async () => {
  const token = path.slice('/confirm/'.length);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let at = 0; at < token.length; at++) {
    const digit = alphabet.indexOf(token.charAt(at));
    const changed = token.slice(0, at) + alphabet.charAt(digit ^ 1) + token.slice(at + 1);
    for (const wrong of [changed, token.slice(0, at)]) {
      const answer =
        at % 8 === 0 ? await world.post(`/confirm/${wrong}`) : await world.get(`/confirm/${wrong}`);
      assert.equal(answer.statusCode, 404, `character ${at}`);
    }
  }
  assert.equal((await world.get(`${path}A`)).statusCode, 404);
  assert.equal(await status(), 'pending');
});

test('a token of another kind is answered 404, in both directions', async () => {
  const { tenantId } = world.spool;
  const unsubscribe = createLinks(world.spool.app).unsubscribeUrl({
    ...{ tenantId, topicId: undefined, contactId: undefined, address: email },
  });
  const token = new URL(unsubscribe).pathname.slice('/u/'.length);
  assert.equal((await world.post(`/confirm/${token}`)).statusCode, 404);
  assert.equal((await world.post(path.replace('/confirm/', '/u/'), 'action=leave')).statusCode, 404);
  assert.equal(await status(), 'pending');
});

test('a form that cannot be read is refused with 400 and confirms nobody', async () => {
  for (const [payload, contentType] of [
    ['', FORM],
    ['action=', FORM],
    ['action=unsubscribe', FORM],
    ['List-Unsubscribe=One-Click', FORM],
    [`${CONFIRM}&pad=${'x'.repeat(1024 * 1024)}`, FORM],
    ['--yy\r\n\r\n--yy--', 'multipart/form-data; boundary=xx'],
    [CONFIRM, 'multipart/form-data'],
    [CONFIRM, 'text/plain'],
    ['{"action":"confirm"}', 'application/json'],
  ] as const) {
    const { statusCode, body } = await world.post(path, payload, { contentType });
    assert.equal(statusCode, 400, `${contentType}: ${body}`);
  }
  assert.equal((await world.pages.inject({ method: 'DELETE', url: path })).statusCode, 405);
  assert.equal(await status(), 'pending');
});

test('both kinds of form confirm, and a long user agent is cut', async () => {
  const multipart = '--xx\r\nContent-Disposition: form-data; name="action"\r\n\r\nconfirm\r\n--xx--\r\n';
  const answer = await world.post(path, multipart, {
    contentType: 'multipart/form-data; boundary=xx',
    headers: { 'user-agent': 'x'.repeat(5_000) },
  });
  assert.deepEqual([answer.statusCode, await status()], [200, 'subscribed']);
  assert.equal((await world.contact(email)).consent.confirmedUserAgent.length, 500);
  const second = await world.post(path);
  assert.equal(second.statusCode, 200);
});

test('of many readers at once, one confirms', async () => {
  const address = 'many@rcpt.example';
  const { body } = await world.signUp(address);
  await world.work();
  const link = await world.linkTo(address);
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.post(link)));
  assert.ok(answers.every(({ statusCode }) => statusCode === 200));
  const events = await world.spool.app.db.read.selectFrom('events').select(['type', 'data']).execute();
  const updates = events.filter(({ type, data }) => type === 'contact.updated' && data.includes(body.id));
  assert.equal(updates.length, 1);
  const data = JSON.parse(updates[0]?.data ?? '{}');
  assert.deepEqual([data.status, data.consent.confirmedIp], ['subscribed', '127.0.0.1']);
});
