/** The installed files, which the tarball and the Debian package share. */
import { chmodSync, copyFileSync, globSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXTERNAL_PACKAGES } from '../bin/external-packages.ts';
import { thirdPartyLicences } from './licences.ts';
import { type Architecture, nodePackage } from './node.ts';

const ROOT = join(import.meta.dirname, '..');

/**
 * Files of `config/` by their names: whoever packs may have a configuration of their own there, with passwords, which must never be packed.
 * A test compares the list with the files that are under version control.
 */
export const CONFIG_FILES = [
  'Caddyfile',
  'back-off.yaml',
  'code-samples.json',
  'grafana-board.json',
  'mailbox-groups.json',
  'nginx.conf',
  'postrider.example.yaml',
  'prometheus-alerts.yaml',
  'providers.yaml',
  'replies.yaml',
  'scanner-networks.json',
  'warm-up.yaml',
];

/** Files of the checkout, by their paths. */
const OF_THE_CHECKOUT = [
  'bin/postrider',
  'dist/**/*',
  ...CONFIG_FILES.map((name) => `config/${name}`),
  'docs/**/*',
  'systemd/*',
  'Containerfile',
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
];

/** Files of a package that the program does not need: sources of native code, and binaries for other machines. */
const UNNEEDED = /^(?:src|deps|binding\.gyp)(?:\/|$)|\.map$|-es-bundle/;
const EXECUTABLE = /(?:^|\/)bin\/(?:postrider|node)$/;

/** Returns the paths of the files of a checkout that are packed, and those of their folders. */
export function packedFiles(checkout: string): string[] {
  return globSync(OF_THE_CHECKOUT, { cwd: checkout });
}

/** Writes the files below `root`, which does not exist yet. `dist/` has been built. */
export function writeTree(root: string, architecture: Architecture): void {
  for (const path of packedFiles(ROOT)) copy(join(ROOT, path), join(root, path));
  for (const name of EXTERNAL_PACKAGES) {
    const folder = join(ROOT, 'node_modules', name);
    for (const path of globSync('**/*', { cwd: folder }).filter((path) => isNeeded(path, architecture)))
      copy(join(folder, path), join(root, 'node_modules', name, path));
  }
  const node = nodePackage(architecture);
  for (const path of ['bin/node', 'LICENSE', 'package.json'])
    copy(join(node, path), join(root, 'node_modules', `node-linux-${architecture}`, path));
  writeFileSync(join(root, 'THIRD-PARTY-LICENCES.txt'), thirdPartyLicences());
  setModes(root);
}

function isNeeded(path: string, architecture: Architecture): boolean {
  if (path.endsWith('.node')) return path === `prebuilds/linux-${architecture}.node`;
  return !UNNEEDED.test(path);
}

/** Copies a file. A folder is not copied as such: it is made with the first file in it. */
function copy(from: string, to: string): void {
  if (statSync(from).isDirectory()) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/** Gives the files the modes that they have everywhere, whatever the umask of the builder. */
export function setModes(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) setModes(path);
    else chmodSync(path, EXECUTABLE.test(path) ? 0o755 : 0o644);
  }
}
