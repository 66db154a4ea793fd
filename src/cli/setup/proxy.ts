/** Writes the configuration of a proxy that has the ports 80 and 443, as docs/https.md describes it, for the names of this machine. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { dataFilePath } from '../../data-files.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import type { Answers, ProxyKind } from './answers.ts';

const { warn } = findingsOf('proxy');

const PROXY_FILES: Readonly<Record<ProxyKind, { name: string; advice: string }>> = {
  caddy: { name: 'Caddyfile', advice: 'add it to /etc/caddy/Caddyfile, then: systemctl reload caddy' },
  nginx: {
    name: 'nginx.conf',
    advice:
      'copy it to /etc/nginx/conf.d/postrider.conf, name the certificate in it, then: systemctl reload nginx',
  },
};

/** Writes the file beside the configuration. Nothing happens without a proxy. */
export function writeProxyFile(file: string, config: Config, { behindProxy, domain }: Answers): Finding[] {
  if (behindProxy === undefined) return [];
  const { name, advice } = PROXY_FILES[behindProxy];
  const written = join(dirname(file), name);
  const example = readFileSync(dataFilePath(name), 'utf8');
  writeFlushed(written, adapt(example, { hostname: config.hostname, domain, port: config.http.port }));
  return [warn(written, 'it is written, and serves nothing until the proxy has it', advice)];
}

type Names = { hostname: string; domain: string; port: number };

/** Replaces the names and the port of the example. */
export function adapt(example: string, { hostname, domain, port }: Names): string {
  return example
    .replaceAll(/(mx\.)?example\.com/g, (_, host) => (host === undefined ? domain : hostname))
    .replaceAll('127.0.0.1:8025', `127.0.0.1:${port}`);
}
