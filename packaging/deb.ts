/** Makes the Debian package: the tree in /usr/lib/postrider, a command, and what systemd needs. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  globSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Architecture } from './node.ts';
import { setModes, writeTree } from './tree.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = join(import.meta.dirname, 'debian');
const PROGRAM = 'usr/lib/postrider';
const DOCUMENTS = 'usr/share/doc/postrider';
/** Scripts that dpkg runs. */
const MAINTAINER_SCRIPTS = ['postinst', 'prerm', 'postrm'];
const ARCHITECTURES: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

export type DebOptions = {
  architecture: Architecture;
  /** Version in the manner of Debian, such as 0.1.0-1. */
  version: string;
  /** Time of all files, in Unix seconds. */
  epoch: number;
};

/** Returns the file name of a package. */
export function debName({ architecture, version }: Pick<DebOptions, 'architecture' | 'version'>): string {
  return `postrider_${version}_${ARCHITECTURES[architecture]}.deb`;
}

/** Makes the package from `folder`, which does not exist yet, and writes it to `file`. */
export function writeDeb(folder: string, file: string, options: DebOptions): void {
  writeTree(join(folder, PROGRAM), options.architecture);
  writeMachineFiles(folder);
  setModes(folder);
  chmodSync(join(folder, 'usr/bin/postrider'), 0o755);
  writeControlFiles(folder, options);
  setTimes(folder, options.epoch);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', folder, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(options.epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Writes what belongs to the machine: the command, the unit, the account and its folders, the documents. */
function writeMachineFiles(folder: string): void {
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  write('usr/bin/postrider', readFileSync(join(SOURCES, 'postrider')));
  for (const unit of globSync('*.service', { cwd: join(ROOT, 'systemd') })) {
    const text = read(`systemd/${unit}`).replaceAll('/opt/postrider/current', `/${PROGRAM}`);
    write(`usr/lib/systemd/system/${unit}`, text);
  }
  write('usr/lib/sysusers.d/postrider.conf', read('systemd/postrider.sysusers'));
  write('usr/lib/tmpfiles.d/postrider.conf', read('systemd/postrider.tmpfiles'));
  write(`${DOCUMENTS}/copyright`, `${read('LICENSE')}\nLicences of the packages in it: /${PROGRAM}\n`);
  write(`${DOCUMENTS}/changelog.gz`, gzipSync(read('CHANGELOG.md'), { level: 9 }));
  write(`${DOCUMENTS}/examples/config.yaml`, read('config/postrider.example.yaml'));
}

/** Writes what dpkg reads about the package itself. */
function writeControlFiles(folder: string, { architecture, version }: DebOptions): void {
  const files = globSync('usr/**/*', { cwd: folder })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
  const sizeBytes = files.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
  const md5 = (path: string) =>
    createHash('md5')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  const control = readFileSync(join(SOURCES, 'control'), 'utf8')
    .replace('VERSION', version)
    .replace('ARCHITECTURE', ARCHITECTURES[architecture])
    .replace('KILOBYTES', String(Math.ceil(sizeBytes / 1024)));
  mkdirSync(join(folder, 'DEBIAN'), { mode: 0o755 });
  writeFileSync(join(folder, 'DEBIAN/control'), control);
  writeFileSync(join(folder, 'DEBIAN/md5sums'), files.map((path) => `${md5(path)}  ${path}\n`).join(''));
  for (const name of MAINTAINER_SCRIPTS) copyFileSync(join(SOURCES, name), join(folder, 'DEBIAN', name));
  setModes(join(folder, 'DEBIAN'));
  for (const name of MAINTAINER_SCRIPTS) chmodSync(join(folder, 'DEBIAN', name), 0o755);
}

/** dpkg-deb lowers only times that are later than SOURCE_DATE_EPOCH. */
function setTimes(folder: string, epoch: number): void {
  for (const path of ['.', ...globSync('**/*', { cwd: folder })])
    lutimesSync(join(folder, path), epoch, epoch);
}
