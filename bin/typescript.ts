/**
 * Lets Node run the sources: `node --import …/bin/typescript.ts src/cli/main.ts`. Node itself removes the types of `.ts`
 * files; this hook compiles `.tsx` files, whose JSX Node does not know, with the compiler and the settings of the bundle.
 * A compiled file is kept until its text changes. Worker threads inherit the hook.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../node_modules/.cache/jsx/', import.meta.url));
const require = createRequire(import.meta.url);

registerHooks({
  load(url, context, next) {
    const { pathname, protocol } = new URL(url);
    if (protocol !== 'file:' || !pathname.endsWith('.tsx')) return next(url, context);
    return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
  },
});

/** Returns the JavaScript of a file. */
function compiled(path: string): string {
  const text = readFileSync(path, 'utf8');
  const { version } = require('esbuild/package.json') as { version: string };
  const kept = `${CACHE}${createHash('sha256').update(version).update(path).update(text).digest('hex')}.js`;
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const code = compile(path, text);
    keep(kept, code);
    return code;
  }
}

function compile(path: string, text: string): string {
  // The compiler is loaded only when a file has changed.
  const { transformSync } = require('esbuild') as typeof import('esbuild');
  const { code } = transformSync(text, {
    loader: 'tsx',
    format: 'esm',
    target: 'node24',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcefile: path,
    sourcemap: 'inline',
    sourcesContent: false,
  });
  return code;
}

/** Writes beside the file and renames, because several processes compile at the same time. */
function keep(path: string, code: string): void {
  try {
    mkdirSync(CACHE, { recursive: true });
    const making = `${path}.${process.pid}-${process.hrtime.bigint()}`;
    writeFileSync(making, code);
    renameSync(making, path);
  } catch {
    // The folder may be read-only. The next process compiles again.
  }
}
