/**
 * Applies a configuration that was read again to the running daemon: the files of the certificates, and the settings that are read
 * whenever they are used. Every other setting that has changed is named in the log, because it counts only after a restart.
 */
import { isDeepStrictEqual } from 'node:util';
import type { App } from './app.ts';
import type { CertificateAdmin } from './certificates/certificates.ts';
import { type Config, valueAt } from './config/config.ts';
import { leaves } from './config/environment.ts';
import { configSchema } from './config/schema.ts';
import { setLogLevel } from './system/log.ts';

/**
 * Settings that change in a running daemon. Nothing keeps a copy of them: no listener, no metric and no other thread, whose
 * configuration is that of its start. The level of the log is the exception, which all threads follow.
 */
const APPLIED_AT_ONCE: readonly (readonly [keyof Config, string])[] = [
  ['operator', 'email'],
  ['mailboxes', 'quotaMegabytes'],
  ['submission', 'recipientsPerDay'],
  ['submission', 'newRecipientsPerDay'],
  ['submission', 'recipientsPerDayOfTenant'],
  ['delivery', 'transactionalMaxAgeHours'],
  ['delivery', 'broadcastMaxAgeHours'],
  ['retention', 'contentDays'],
  ['retention', 'eventDays'],
  ['retention', 'emailDays'],
  ['retention', 'webhookDays'],
  ['retention', 'requestDays'],
  ['retention', 'inboundDays'],
  ['retention', 'engagementDays'],
  ['backup', 'time'],
  ['backup', 'keep'],
  ['backup', 'recipients'],
  ['backup', 'command'],
  ['backup', 'commandMinutes'],
  ['log', 'level'],
];

/** Names of the settings that change in a running daemon, such as `log.level`. */
export const RELOADED_SETTINGS: readonly string[] = APPLIED_AT_ONCE.map((path) => path.join('.'));

type Reloadable = {
  app: Pick<App, 'config' | 'log'>;
  certificates: Pick<CertificateAdmin, 'reload'>;
};

/** Returns the configuration in a form that `reload` changes: its sections with settings that change are copies. */
export function openToReload(config: Config): Config {
  const sections = new Set(APPLIED_AT_ONCE.map(([section]) => section));
  const copies = [...sections, 'sources' as const].map((section) => [
    section,
    { ...sectionOf(config, section) },
  ]);
  return Object.freeze({ ...config, ...Object.fromEntries(copies) });
}

/**
 * Applies `next` to the configuration of the app, which `openToReload` has returned. Certificates whose files cannot be used stay as they
 * are, which the log reports.
 */
export async function reload({ app, certificates }: Reloadable, next: Config): Promise<void> {
  const { config, log } = app;
  const changed = changedSettings(config, next);
  for (const path of APPLIED_AT_ONCE) if (changed.includes(path.join('.'))) applySetting(config, next, path);
  setLogLevel(log, next.log.level);
  await certificates.reload();
  const applied = changed.filter((name) => RELOADED_SETTINGS.includes(name));
  log.info({ level: next.log.level, settings: applied }, 'configuration and certificates read again');
  const needRestart = changed.filter((name) => !RELOADED_SETTINGS.includes(name));
  if (needRestart.length > 0) log.warn({ settings: needRestart }, 'changed settings need a restart');
}

/** Returns the names of the settings whose values differ, such as `http.port`. */
function changedSettings(before: Config, after: Config): string[] {
  return leaves(configSchema)
    .filter(({ path }) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)))
    .map(({ path }) => path.join('.'));
}

/** Changes the value, and where it comes from, at its place, so that everybody who has the configuration sees it. */
function applySetting(config: Config, next: Config, [section, key]: (typeof APPLIED_AT_ONCE)[number]): void {
  sectionOf(config, section)[key] = sectionOf(next, section)[key];
  const name = `${section}.${key}`;
  const sources = sectionOf(config, 'sources');
  if (next.sources[name] === undefined) delete sources[name];
  else sources[name] = next.sources[name];
}

function sectionOf(config: Config, section: keyof Config): Record<string, unknown> {
  return config[section] as Record<string, unknown>;
}
