/** `postrider mcp`: speaks MCP over standard input and output, for programs of this machine that start their tools themselves. */
import type { Command } from 'commander';
import { CommandError } from './errors.ts';
import { createForwarder } from './mcp-forward.ts';
import type { Terminal } from './terminal.ts';

const DEFAULT_BASE_URL = 'http://127.0.0.1:8025';
/** Maximum number of messages that are asked at the same time. No more are read meanwhile. */
const MAX_OPEN = 32;
/** Prefix of keys that send nothing to the world, and may travel without TLS. */
const TEST_KEY = /^svc_dev_/;
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Adds the command to the program. */
export function addMcpCommand(program: Command, terminal: Terminal): void {
  program
    .command('mcp')
    .description(
      'Offer the tools of a daemon to a local agent, by MCP over standard input and output. SERVICE_API_KEY is the key; SERVICE_BASE_URL the ' +
        `address of the daemon (default: ${DEFAULT_BASE_URL}).`,
    )
    .action(async () => {
      const { endpoint, key } = readSettings(terminal.env);
      const { take } = createForwarder({
        endpoint,
        key,
        write: (message) => terminal.print(message),
        complain: (text) => terminal.complain(text),
      });
      const open = new Set<Promise<void>>();
      for await (const line of terminal.readLines()) {
        const taken: Promise<void> = take(line).finally(() => open.delete(taken));
        open.add(taken);
        if (open.size >= MAX_OPEN) await Promise.race(open);
      }
      await Promise.all(open);
    });
}

/** @throws CommandError without a key, with an address that is none, and for a live key without TLS */
function readSettings(env: Terminal['env']): { endpoint: URL; key: string } {
  const key = env['SERVICE_API_KEY'] ?? '';
  const base = env['SERVICE_BASE_URL'] ?? DEFAULT_BASE_URL;
  // No message repeats the key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandError('set SERVICE_API_KEY to an API key');
  if (!URL.canParse(base)) throw new CommandError('SERVICE_BASE_URL is not an address');
  const url = new URL(base);
  const { protocol, username, password, search, hash } = url;
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '')
    throw new CommandError('SERVICE_BASE_URL is not an address such as https://mail.example.com');
  if (protocol === 'http:' && !TEST_KEY.test(key) && !LOOPBACK.test(url.hostname))
    throw new CommandError('a live key is not sent over plain http to another machine; use https');
  return { endpoint: new URL(`${url.href.replace(/\/+$/, '')}/mcp`), key };
}
