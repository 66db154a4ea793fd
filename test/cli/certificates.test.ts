import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openCertificates } from '../../src/certificates/certificates.ts';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { NOW, writePair } from '../certificates/files.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';
import { EC_PAIR, RSA_PAIR, WILDCARD_PAIR } from '../system/certificate-pairs.ts';

const folder = temporaryDirectory('certificates');
const files = writePair(folder, RSA_PAIR);
const daemon = await openTestApp({ system: { clock: createFakeClock(NOW) } });
const app = { ...daemon.app, config: { ...daemon.app.config, tls: { certificates: [files] } } };
const certificates = await openCertificates(app);
const control = await openControlSocket(app, { certificates });
after(async () => {
  await control.close();
  await certificates[Symbol.asyncDispose]();
  await daemon.close();
});

function run(...args: string[]) {
  return runIn({ POSTRIDER_DATA_DIR: daemon.dataDir }, args);
}

async function runIn(env: Record<string, string>, args: string[]) {
  const terminal = fakeTerminal(env);
  const code = await runProgram(args, terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('the list shows names, key, end and file, and reload takes new files at once', async () => {
  const { code, output } = await run('certificates', 'list');
  assert.equal(code, 0);
  assert.match(
    output,
    /^NAMES +KEY +EXPIRES +FILE +PROBLEM\nmx\.example +rsa +2126-10-29T\S+ +\S+chain\.pem\n$/,
  );
  writePair(folder, EC_PAIR);
  const reloaded = await run('certificates', 'reload', '--json');
  assert.equal(reloaded.code, 0);
  const [status] = JSON.parse(reloaded.output);
  assert.deepEqual([status.keyType, status.problem], ['ec', null]);
  assert.equal(certificates.store.pairsFor('')[0]?.key, EC_PAIR.key);
});

test('reload fails with the file and the reason when a pair cannot be used, and the earlier one stays', async () => {
  writePair(folder, EC_PAIR);
  writeFileSync(files.key, WILDCARD_PAIR.key);
  const { code, output, errors } = await run('certificates', 'reload');
  assert.equal(code, 1);
  assert.match(
    output,
    /^mx\.example +ec +2126-\S+ +\S+chain\.pem +\S+key\.pem is not the key of the certificate/m,
  );
  assert.equal(errors, `error: ${files.key} is not the key of the certificate in ${files.certificate}\n`);
  assert.equal(certificates.store.pairsFor('')[0]?.key, EC_PAIR.key);
});

test('the records of the operator end with the TLSA record of the key', async () => {
  const { output } = await run('domain', 'records', '--zone');
  assert.match(output, /^_25\._tcp\.mx\.postrider\.example\. 3600 IN TLSA 3 1 1 16420046[0-9a-f]{56}$/m);
});

test('without a daemon the files are read as they are', async () => {
  const place = temporaryDirectory('certificates');
  writePair(place, WILDCARD_PAIR);
  const config = join(place, 'config.yaml');
  writeFileSync(
    config,
    'hostname: mx.example\ndataDir: data\ntls: { certificates: [{ certificate: chain.pem, key: key.pem }] }\n',
  );
  const { output } = await runIn({}, ['certificates', 'list', '--config', config]);
  assert.match(output, /^\*\.mail\.example mail\.example +ec +2126-/m);
  writePair(place, { ...WILDCARD_PAIR, key: 'x' });
  const { code, errors } = await runIn({}, ['certificates', 'reload', '--config', config]);
  assert.equal(code, 1);
  assert.match(errors, /^error: \S+key\.pem has no private key in PEM/);
});
