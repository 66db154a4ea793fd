/**
 * The outside world of `postrider setup` on loopback: a DNS, a receiver that is also the mail server of the large providers, and a
 * certificate authority. The records that a set-up prints are published while it waits for them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type AcmeAuthority, startAuthority } from './acme-authority.ts';
import { startDnsServer } from './dns-server.ts';
import { freePort } from './loopback.ts';
import { type SinkOptions, type SmtpSink, startSmtpSink } from './smtp-sink.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));
const DOMAIN = 'setup.example';
const ZONE = `mail.${DOMAIN} A 127.0.0.1
1.0.0.127.in-addr.arpa PTR mail.${DOMAIN}
gmail.com MX 10 mx.receiver.example
outlook.com MX 10 mx.receiver.example
receiver.example MX 10 mx.receiver.example
mx.receiver.example A 127.0.0.1`;
/** Text that a set-up shows while it waits for the records. */
const WAITS = 'needed records are published';
const PORTS = [
  ...[
    'HTTP_PORT',
    'HTTPS_PORT',
    'HTTPS_REDIRECT_PORT',
    'SMTP_PORT',
    'SUBMISSION_PORT',
    'SUBMISSION_TLS_PORT',
  ],
  ...['IMAP_PORT', 'POP3_PORT', 'MANAGESIEVE_PORT'],
];

export type SetupRun = { code: number | null; signal: NodeJS.Signals | null; output: string; errors: string };

export type SetupWorld = AsyncDisposable & {
  sink: SmtpSink;
  authority: AcmeAuthority;
  /** Settings of the daemon that lead to this world. */
  env: Record<string, string>;
  /** Options of the command that lead to this world. */
  options: readonly string[];
  /** Runs a set-up to its end, or until it is killed: once its output has the text, or when the promise resolves. */
  run(options: readonly string[], killAt?: string | Promise<unknown>): Promise<SetupRun>;
};

/** Starts the world. `program` is `bin/postrider` of this checkout, or another one. `receiver` says how the receiver answers. */
export async function startSetupWorld(program = PROGRAM, receiver: SinkOptions = {}): Promise<SetupWorld> {
  const [dns, sink, authority] = await Promise.all([
    startDnsServer(ZONE),
    startSmtpSink(receiver),
    startAuthority(),
  ]);
  const ports = await Promise.all(PORTS.map(() => freePort()));
  const env: Record<string, string> = {
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_SMTP_PORT: String(sink.port),
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    POSTRIDER_STORAGE_RESERVE_MEGABYTES: '0',
    ...Object.fromEntries(PORTS.map((name, index) => [`POSTRIDER_${name}`, String(ports[index])])),
  };
  const options = [
    ...['--yes', '--address', '127.0.0.1', '--acme', authority.directory],
    ...['--test-to', 'me@receiver.example', '--wait', '60'],
  ];
  let running: ChildProcess | undefined;
  return {
    sink,
    authority,
    env,
    options,
    run(given, killAt) {
      const child = spawn(program, ['setup', `you@${DOMAIN}`, ...options, ...given], {
        env: { ...withoutOurs(process.env), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running = child;
      if (typeof killAt === 'object') void killAt.then(() => child.kill('SIGKILL'));
      const read = { output: '', errors: '' };
      child.stderr.on('data', (part: Buffer) => {
        read.errors += part.toString();
      });
      child.stdout.on('data', (part: Buffer) => {
        read.output += part.toString();
        if (typeof killAt === 'string' && read.output.includes(killAt)) child.kill('SIGKILL');
        else if (read.output.includes(WAITS)) dns.setZone([ZONE, ...zoneLines(read.output)].join('\n'));
      });
      return new Promise((resolve) => {
        child.once('close', (code, signal) => resolve({ ...read, code, signal }));
      });
    },
    async [Symbol.asyncDispose]() {
      running?.kill('SIGKILL');
      await Promise.all([dns.close(), sink.close(), authority[Symbol.asyncDispose]()]);
    },
  };
}

function withoutOurs(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('POSTRIDER_') ? [] : [[name, value]],
    ),
  );
}

/** Returns the printed lines of a zone file in the form of zone.ts. The zone has the address already. */
function zoneLines(output: string): string[] {
  const lines = output.split('\n').flatMap((line) => {
    const [, name, type, data = ''] = /^(\S+)\. \d+ IN (\S+) (.+)$/.exec(line) ?? [];
    if (name === undefined || type === 'A') return [];
    const strings = [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text);
    return [`${name} ${type} ${type === 'TXT' ? `"${strings.join('')}"` : data.replace(/(\S)\.$/, '$1')}`];
  });
  return [...new Set(lines)];
}
