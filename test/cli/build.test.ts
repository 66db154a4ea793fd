import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);
const { packages } = JSON.parse(readFileSync(fromRoot('package-lock.json'), 'utf8'));
/** The modules that bin/build.ts finds. */
const started = globSync('src/**/{*-thread,operations}.ts', { cwd: fromRoot('') }).filter(
  (file) => !/^src\/[\w-]+\/operations\.ts$/.test(file),
);
const names = started.map((file) => basename(file, '.ts'));

/** What is bundled stands side by side in `dist/`, so such a module finds another only there, by its name alone. */
test('modules that a thread or another module starts by name have names of their own', () => {
  assert.ok(names.includes('operations') && names.includes('writer-thread') && names.length > 10);
  assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted());
});

test('a file that a module looks for beside itself is one of those, or beside the program', () => {
  for (const file of globSync('src/**/*.ts', { cwd: fromRoot('') })) {
    const text = readFileSync(fromRoot(file), 'utf8');
    for (const [, path = ''] of text.matchAll(/new URL\([`']([^`']*)[`'],\s*import\.meta\.url\)/g)) {
      const [, beside] = /^\.\/([\w-]+)/.exec(path) ?? [];
      if (path.startsWith('./${')) continue;
      if (beside !== undefined) assert.ok(names.includes(beside), `${file}: ${path}`);
      // One up is the same place from src/ and from dist/, so only for modules that stand in src/ itself.
      else
        assert.match(
          `${file} ${path}`,
          /^src\/[\w-]+\.ts \.\.\/(?:config\/\$\{name\}|[\w.-]+)$/,
          `${file}: ${path}`,
        );
    }
  }
});

/** Node finds the names of a CommonJS package, and the bundle has `default` alone. */
test('a CommonJS package that is loaded when it is needed is used by its default export', () => {
  for (const file of globSync('src/**/*.ts', { cwd: fromRoot('') })) {
    const text = readFileSync(fromRoot(file), 'utf8');
    for (const [line, name = ''] of text.matchAll(/^.*\bimport\('([^.][^']*)'\).*$/gm))
      if (!isModule(name)) assert.match(line, /^\s*const \{ default: \w+ \} = await import\(/, file);
  }
});

/** True for a package of ES modules, and for one that has such a module for whoever imports it. */
function isModule(name: string): boolean {
  const { type, exports } = JSON.parse(readFileSync(fromRoot(`node_modules/${name}/package.json`), 'utf8'));
  const { import: imported } = exports?.['.'] ?? {};
  return type === 'module' || String(imported?.default ?? imported).endsWith('.mjs');
}

/** `npm install` takes the line out of the lock file again. Without it npm runs node-gyp, which needs Python, make and headers. */
test('installing compiles nothing: better-sqlite3 brings what it needs, and the lock file says so', () => {
  const gyp = Object.keys(packages).filter((path) => existsSync(fromRoot(`${path || '.'}/binding.gyp`)));
  assert.deepEqual(gyp, ['node_modules/better-sqlite3']);
  for (const path of gyp) assert.equal(packages[path].gypfile, false, path);
});

test('a package that is installed runs no script of its own but the one of esbuild', () => {
  const scripts = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  assert.deepEqual(scripts, ['node_modules/esbuild']);
});

/** Two copies of asn1-schema do not know each other's types, and no certificate can then be made. Other packages may use them in two versions. */
test('the packages that encode certificates are installed once', () => {
  const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));
  const encoders = names.filter((name) => name.startsWith('@peculiar/asn1-'));
  assert.ok(encoders.includes('@peculiar/asn1-schema'));
  assert.deepEqual(encoders.toSorted(), [...new Set(encoders)].toSorted());
});
