/** A set-up on a machine whose ports 80 and 443 belong to a proxy, which passes the challenges of the authority on. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { IssuedChallenge } from '../support/acme-authority.ts';
import { temporaryDirectory } from '../support/daemon.ts';
import { startSetupWorld } from '../support/setup-world.ts';

const world = await startSetupWorld();
after(() => world[Symbol.asyncDispose]());

/** Asks the plain listener as the proxy does. Returns the body. */
function passOn({ name, token }: IssuedChallenge): Promise<string> {
  const port = world.env['POSTRIDER_HTTP_PORT'];
  const path = `/.well-known/acme-challenge/${token}`;
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host: name } }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      resolve(Buffer.concat(parts).toString());
    });
    asked.once('error', reject).end();
  });
}

test('a set-up behind a proxy ends with a certificate for mail, and with a mail that a receiver has taken', async () => {
  const types: string[] = [];
  world.authority.behaviour.challengeTypes = ['http-01', 'tls-alpn-01'];
  world.authority.behaviour.validate = async (challenge) => {
    types.push(challenge.type);
    return (await passOn(challenge)) === challenge.keyAuthorization ? undefined : 'wrong answer';
  };
  const folder = temporaryDirectory('setup-behind-proxy');
  const config = ['--config', join(folder, 'postrider.yaml')];
  const { code, output, errors } = await world.run([...config, '--behind-proxy', 'nginx']);
  assert.equal(code, 0, `${output}${errors}`);
  assert.match(output, /^OK {4}certificate +mail\.setup\.example: its certificate is valid until /m);
  assert.match(output, /^OK {4}message /m);
  assert.deepEqual(types, ['http-01']);
  assert.ok(existsSync(join(folder, 'nginx.conf')));
});
