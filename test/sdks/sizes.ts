/** Sizes of the client libraries as they are installed, and of the one that browsers load. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

export type Installed = {
  name: 'Node.js' | 'Python' | 'Go' | 'PHP';
  bytes: number;
  /** Parts of the size, in bytes. */
  details: Record<string, number>;
};

/** Maximum sizes. Our own limits: no program should hesitate to have a library. */
export const MAX_INSTALLED_BYTES = 100_000;
export const MAX_BUNDLE_BYTES = 15_000;

const SDK = fileURLToPath(new URL('../../sdk/', import.meta.url));

/** Measures what each registry delivers. The library for Node.js must be built. */
export async function installedSizes(): Promise<Installed[]> {
  return [nodeSize(), pythonSize(), goSize(), phpSize()];
}

function nodeSize(): Installed {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: `${SDK}node`,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(output) as [{ unpackedSize: number; size: number }];
  const code = bytesOf('node', ['dist/index.js']);
  return {
    name: 'Node.js',
    bytes: packed.unpackedSize,
    details: { 'of these code, bytes': code, 'packed, bytes': packed.size },
  };
}

/** The package alone: its stubs are another one, and pip writes its own files beside every package. */
export function pythonSize(): Installed {
  const bytes = bytesOf(
    'python/src',
    globSync('postrider/*', { cwd: `${SDK}python/src`, exclude: ['**/__pycache__'] }),
  );
  return { name: 'Python', bytes, details: {} };
}

/** The files that a compiler reads for a program. */
function goSize(): Installed {
  const files = globSync('*.go', { cwd: `${SDK}go`, exclude: ['*_test.go'] });
  const types = bytesOf('go', ['types.go']);
  return { name: 'Go', bytes: bytesOf('go', files), details: { 'of these types, bytes': types } };
}

/** The archive of the repository, from which Composer installs, without what `.gitattributes` leaves out. */
export function phpSize(): Installed {
  const left = readFileSync(`${SDK}php/.gitattributes`, 'utf8').matchAll(/^\/(\S+)\s+export-ignore$/gm);
  const exclude = [...left].flatMap(([, path]) => [String(path), `${path}/**`]);
  const files = globSync('**', { cwd: `${SDK}php`, exclude });
  return {
    name: 'PHP',
    bytes: bytesOf('php', files),
    details: {
      'of these code, bytes': bytesOf(
        'php',
        files.filter((file) => file.startsWith('src/')),
      ),
    },
  };
}

function bytesOf(folder: string, files: readonly string[]): number {
  return files
    .map((file) => statSync(join(SDK, folder, file)))
    .filter((status) => status.isFile())
    .reduce((sum, { size }) => sum + size, 0);
}

/** Returns the size of everything that the library for Node.js exports, bundled for browsers and compressed. @throws Error at a warning */
export async function browserBundleBytes(): Promise<number> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: "export * from '@postrider/client';", resolveDir: `${SDK}node` },
    ...{ bundle: true, minify: true, platform: 'browser', format: 'esm', write: false, logLevel: 'silent' },
  });
  const [warning] = warnings;
  if (warning !== undefined) throw new Error(`the bundle has a warning: ${warning.text}`);
  return gzipSync(outputFiles[0]?.contents ?? '').length;
}
