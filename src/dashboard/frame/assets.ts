/**
 * The stylesheets and scripts of the dashboard. Each address contains a hash of the content, so that a browser keeps it for a year and loads
 * another one after an upgrade. They are compressed once.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { orNotFound } from '../../system/errors.ts';
import { VERSION } from '../../version.ts';
import { ASSETS, type AssetName } from './asset-names.ts';

export type Assets = {
  /** Returns the path of a file. */
  pathOf(name: AssetName): string;
  /** Returns the version of the program, with a hash of the files. */
  version(): string;
};

const FOLDER = '/assets';
/** Time for which a browser keeps a file: its address changes with its content. */
const MAX_AGE_SECONDS = 31_536_000;
const HASH_CHARACTERS = 16;

const compress = promisify(gzip);

type Asset = { content: Buffer; compressed: Buffer };

/** Serves the files, which are read when the server becomes ready. */
export function serveAssets(server: FastifyInstance): Assets {
  const paths = new Map<AssetName, string>();
  const assets = new Map<string, Asset>();
  server.addHook('onReady', async () => {
    for (const name of ASSETS) {
      const content = Buffer.from(await read(name));
      const hash = hashOf(content);
      paths.set(name, `${FOLDER}/${hash}/${name}`);
      assets.set(`${FOLDER}/${hash}/${name}`, { content, compressed: await compress(content) });
    }
  });
  server.get<{ Params: { hash: string; name: string } }>(`${FOLDER}/:hash/:name`, async (request, reply) => {
    const { hash, name } = request.params;
    const { content, compressed } = orNotFound(assets.get(`${FOLDER}/${hash}/${name}`), 'File');
    const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    return reply
      .headers({
        'content-type': `${name.endsWith('.css') ? 'text/css' : 'text/javascript'}; charset=utf-8`,
        'cache-control': `public, max-age=${MAX_AGE_SECONDS}, immutable`,
        vary: 'accept-encoding',
        ...(takesGzip && { 'content-encoding': 'gzip' }),
      })
      .send(takesGzip ? compressed : content);
  });
  return {
    pathOf: (name) => paths.get(name) ?? '',
    version: () => `${VERSION}-${hashOf([...paths.values()].join())}`,
  };
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, HASH_CHARACTERS);
}

/** In the compiled program, the files lie beside it (bin/build.ts). */
const COMPILED = join(import.meta.dirname, 'dashboard');

async function read(name: AssetName): Promise<string> {
  if (existsSync(COMPILED)) return readFile(join(COMPILED, name), 'utf8');
  const { compileAsset } = await import('./compile-assets.ts');
  return compileAsset(name);
}
