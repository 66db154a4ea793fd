/** Only while features are still missing: opens the application with those stores of src/operations.ts that load. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type App, openApp } from '../../src/app.ts';
import { openBlobs } from '../../src/blobs/blobs.ts';
import type { Config } from '../../src/config.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createSealer, loadMasterKey } from '../../src/system/seal.ts';
import { createSystem, type System } from '../../src/system/system.ts';

export async function openWhatExists(
  config: Config,
  overrides: Partial<System>,
): Promise<App & AsyncDisposable> {
  const source = new URL('../../src/operations.ts', import.meta.url);
  const modules = [...readFileSync(source, 'utf8').matchAll(/^import '(.*)'/gm)].map(
    ([, path]) => new URL(path ?? '', source).href,
  );
  const results = await Promise.allSettled(modules.map((url) => import(url)));
  const present = modules.filter((_, index) => results[index]?.status === 'fulfilled');
  if (present.length === modules.length) return openApp(config, overrides);
  mkdirSync(config.dataDir, { recursive: true });
  const file = join(config.dataDir, 'operations.mjs');
  writeFileSync(file, present.map((url) => `import '${url}';\n`).join(''));
  const system = createSystem(
    { dnsServers: [], allowTargets: config.outbound.allowTargets, logLevel: 'silent', crashAt: undefined },
    overrides,
  );
  const db = await openDatabase(system, {
    directory: config.dataDir,
    operationsModule: pathToFileURL(file),
    synchronous: 'FULL',
    readers: 2,
    crashAt: undefined,
  });
  return {
    ...system,
    config,
    db,
    blobs: openBlobs(system, db, config.dataDir),
    sealer: createSealer(loadMasterKey(config.dataDir)),
    epoch: randomUUID(),
    [Symbol.asyncDispose]: () => db.close(),
  };
}
