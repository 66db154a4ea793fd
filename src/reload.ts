/**
 * Applies a configuration that was read again to the running daemon: the level of the log, and the files of the
 * certificates. Every other setting that has changed is named in the log, because it counts only after a restart.
 */
import { isDeepStrictEqual } from 'node:util';
import type { App } from './app.ts';
import type { CertificateAdmin } from './certificates/certificates.ts';
import type { Config } from './config/config.ts';
import { leaves } from './config/environment.ts';
import { configSchema } from './config/schema.ts';
import { setLogLevel } from './system/log.ts';

/** Settings that change in a running daemon. */
const APPLIED_AT_ONCE: readonly string[] = ['log.level'];

type Reloadable = {
  app: Pick<App, 'config' | 'log'>;
  certificates: Pick<CertificateAdmin, 'reload'>;
};

/** Applies `next`. Certificates whose files cannot be used stay as they are, which the log reports. */
export async function reload({ app, certificates }: Reloadable, next: Config): Promise<void> {
  const { log } = app;
  setLogLevel(log, next.log.level);
  await certificates.reload();
  const needRestart = changedSettings(app.config, next).filter((name) => !APPLIED_AT_ONCE.includes(name));
  log.info({ level: next.log.level }, 'configuration and certificates read again');
  if (needRestart.length > 0) log.warn({ settings: needRestart }, 'changed settings need a restart');
}

/** Returns the names of the settings whose values differ, such as `http.port`. */
function changedSettings(before: Config, after: Config): string[] {
  return leaves(configSchema)
    .filter(({ path }) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)))
    .map(({ path }) => path.join('.'));
}

function valueAt(config: Config, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);
}
