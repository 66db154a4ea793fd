import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataDirWarning } from '../../src/cli/data-dir-warning.ts';
import { loadConfig } from '../../src/config/config.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('a configuration file without dataDir does not reuse development data without a warning', () => {
  const dataDir = temporaryDirectory('data-dir-warning');
  const file = join(dataDir, 'config.yaml');
  writeFileSync(file, 'hostname: mail.example.com\n');
  const config = { ...loadConfig({ file, env: {} }), dataDir };
  assert.equal(dataDirWarning(config), undefined, 'an empty directory holds nothing to warn about');

  writeFileSync(join(dataDir, 'postrider.db'), '');
  assert.match(dataDirWarning(config) ?? '', /names no dataDir.*set dataDir \(POSTRIDER_DATA_DIR\)/);
  assert.equal(
    dataDirWarning({ ...loadConfig({ env: {} }), dataDir }),
    undefined,
    'without a file it is meant',
  );
  const named = loadConfig({ file, env: { POSTRIDER_DATA_DIR: dataDir } });
  assert.equal(dataDirWarning(named), undefined, 'a named directory is meant');
});
