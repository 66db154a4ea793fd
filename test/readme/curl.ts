/** Stands in for curl: those of its options that the documents use, and no others. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { deliver, fetchMessage } from './mail-programs.ts';
import type { Answer, Call } from './stand-ins.ts';

export async function curl({ arguments: args, directory, input }: Call): Promise<Answer> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      request: { type: 'string', short: 'X' },
      header: { type: 'string', short: 'H', multiple: true },
      data: { type: 'string', short: 'd' },
      'data-binary': { type: 'string' },
      silent: { type: 'boolean', short: 's' },
      'show-error': { type: 'boolean', short: 'S' },
      insecure: { type: 'boolean', short: 'k' },
      user: { type: 'string', short: 'u' },
      'upload-file': { type: 'string', short: 'T' },
      'mail-from': { type: 'string' },
      'mail-rcpt': { type: 'string' },
      'url-query': { type: 'string' },
    },
  });
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0) throw new Error(`one URL, not ${positionals.join(' ')}`);
  if (url.startsWith('smtp:')) {
    const { 'mail-from': from = '', 'mail-rcpt': to = '', 'upload-file': message = '' } = values;
    return deliver(new URL(url), { from, to, raw: readFileSync(resolve(directory, message)) });
  }
  if (url.startsWith('imaps:')) return fetchMessage(new URL(url), values.user ?? '');
  const file = values['data-binary']?.replace(/^@/, '');
  // `-d` strips line breaks from what it reads from a file, `--data-binary` does not.
  const data = values.data === '@-' ? input.replace(/[\r\n]/g, '') : values.data;
  const sent = file === undefined ? data : readFileSync(resolve(directory, file));
  const headers = Object.fromEntries(
    (values.header ?? []).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const method = values.request ?? (sent === undefined ? 'GET' : 'POST');
  const { body } = await request(withQuery(url, values['url-query']), {
    method,
    headers,
    body: sent ?? null,
  });
  return { output: await body.text(), errors: '', code: 0 };
}

/** `--url-query` encodes what stands behind the first equals sign. */
function withQuery(url: string, query: string | undefined): string {
  if (query === undefined) return url;
  const equals = query.indexOf('=');
  const encoded = `${query.slice(0, equals)}=${encodeURIComponent(query.slice(equals + 1))}`;
  return `${url}${url.includes('?') ? '&' : '?'}${encoded}`;
}
