/** The licences of the packages whose code is in the bundle, as one text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Not in the bundle. Node has its licence beside it; the compiler is not shipped. */
const NOT_BUNDLED = /^node_modules\/(?:node-linux-|@?esbuild)/;
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;

type Lock = { packages: Record<string, { dev?: boolean; version?: string; license?: string }> };

/** Returns a section for each package of package-lock.json that is not for development alone, in the order of their paths. */
export function thirdPartyLicences(): string {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const sections = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && !NOT_BUNDLED.test(path))
    .filter(([path]) => existsSync(join(ROOT, path)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { version = '', license = 'see its package.json' }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return [`${name} ${version} (${license})`, ...licenceTexts(join(ROOT, path))].join('\n\n');
    });
  return `${sections.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

function licenceTexts(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => LICENCE_FILE.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim());
}
