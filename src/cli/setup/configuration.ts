/**
 * Writes the configuration, where the installation looks for it. Settings that are there already stay, unless an option asks for
 * another value, so that the operator may change the file and run the set-up again.
 */
import { chmodSync, chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { type Config, loadConfig } from '../../config/config.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { makeDirectories } from '../../system/make-directories.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import { CommandError } from '../errors.ts';
import type { Answers } from './answers.ts';

const { ok } = findingsOf('configuration');

/** Where the packages and the unit of systemd expect the configuration and the data. */
export const SYSTEM_FILE = '/etc/postrider/config.yaml';
const SYSTEM_DATA = '/var/lib/postrider';
/** Where they are without root: in the current folder. */
const OWN_FILE = 'postrider.yaml';
const OWN_DATA = 'postrider-data';

/** Time of day, in UTC, of the daily backup. People in Europe, Africa and America send little then. */
const BACKUP_TIME = '02:30';

export type Places = { file: string; dataDir: string };
type Env = Readonly<Record<string, string | undefined>>;

/** Returns where the configuration and the data are, or are to be. */
export function findPlaces(env: Env, named: string | undefined, isRoot: boolean): Places {
  const given = named ?? env['POSTRIDER_CONFIG'];
  const file = resolve(given ?? (isRoot ? SYSTEM_FILE : OWN_FILE));
  const usual = file === SYSTEM_FILE ? SYSTEM_DATA : join(dirname(file), OWN_DATA);
  return { file, dataDir: resolve(env['POSTRIDER_DATA_DIR'] ?? findDataDir(file) ?? usual) };
}

/** Returns the data directory that the file names, if there is one. */
function findDataDir(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const named = parseDocument(readFileSync(file, 'utf8')).get('dataDir');
  return typeof named === 'string' ? resolve(dirname(file), named) : undefined;
}

type Written = { config: Config; hasChanged: boolean; findings: Finding[] };

const HEADER =
  ' Written by "postrider setup". "postrider config example" prints every setting with its meaning.';

/**
 * Writes what is missing in the file, and what the options ask for.
 * @throws CommandError when the file is one of another installation, or cannot be read; ConfigError
 */
export function writeConfiguration(
  { file, dataDir }: Places,
  answers: Answers & { addresses: readonly string[] },
  env: Env,
): Written {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const settings = parseDocument(before ?? '{}\n');
  if (settings.errors.length > 0) throw new CommandError(`${file}: ${settings.errors[0]?.message}`);
  if (before === undefined) settings.commentBefore = HEADER;
  else requireSameInstallation(settings, { file, answers, isOurs: before.includes(HEADER) });
  fill(settings, dataDir, answers);
  const text = settings.toString({ flowCollectionPadding: true });
  const hasChanged = text !== before;
  if (hasChanged) {
    makeDirectories(dirname(file), 0o750);
    writeFlushed(file, text);
  }
  protect(file);
  const done = before === undefined ? 'written' : hasChanged ? 'changed' : 'in place';
  return { config: loadConfig({ file, env }), hasChanged, findings: [ok(file, done)] };
}

/** @throws CommandError when the file has another host name, or an earlier set-up was for another address */
function requireSameInstallation(
  settings: Document,
  { file, answers, isOurs }: { file: string; answers: Answers; isOurs: boolean },
): void {
  const named = [
    { found: settings.get('hostname'), wanted: answers.hostname },
    { found: settings.getIn(['operator', 'email']), wanted: isOurs ? answers.email : undefined },
  ];
  const other = named.find(
    ({ found, wanted }) =>
      wanted !== undefined && typeof found === 'string' && found.toLowerCase() !== wanted.toLowerCase(),
  );
  if (other)
    throw new CommandError(
      `${file} is the configuration of ${other.found}, and a machine has one installation: add domains with "postrider domain add", and mailboxes with "postrider mailbox create"`,
    );
}

/** Sets what is missing, and what the options ask for. */
function fill(settings: Document, dataDir: string, answers: Answers): void {
  const { email, domain, hostname = `mail.${domain}`, acme, behindProxy, isIpv4Only } = answers;
  const addMissing = (key: string[], value: unknown) => {
    if (settings.getIn(key) === undefined) settings.setIn(key, value);
  };
  addMissing(['hostname'], hostname);
  addMissing(['operator', 'email'], email);
  addMissing(['dataDir'], dataDir);
  addMissing(['backup', 'time'], BACKUP_TIME);
  if (acme !== undefined)
    settings.set('acme', settings.createNode({ directory: acme, acceptTerms: true, email }));
  if (answers.addresses.length > 0) {
    const kept = answers.addresses.filter((address) => !isIpv4Only || isIPv4(address));
    if (isIpv4Only) settings.setIn(['domains', 'addresses'], settings.createNode(kept));
    else addMissing(['domains', 'addresses'], settings.createNode(kept));
  }
  if (isIpv4Only) settings.setIn(['outbound', 'ipv6'], false);
  if (behindProxy !== undefined) {
    settings.setIn(['https', 'enabled'], false);
    addMissing(['http', 'trustedProxies'], settings.createNode(['127.0.0.1']));
    addMissing(['http', 'publicUrl'], `https://${String(settings.get('hostname'))}`);
  }
}

/** Lets the group of the folder read the file, which is that of the service. Nobody else may, since a file can have secrets. */
function protect(file: string): void {
  const { uid, mode } = statSync(file);
  const isNew = (mode & 0o077) === 0;
  if (process.getuid?.() !== 0 || uid !== 0 || !isNew) return;
  chownSync(file, 0, statSync(dirname(file)).gid);
  chmodSync(file, 0o640);
}
