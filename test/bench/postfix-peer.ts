/**
 * Postfix with OpenDKIM as its signing milter, the usual way to send signed mail from one's own machine. Configuration,
 * queue, log and sockets are in a folder of their own; both are started and ended here, and nothing of the machine's
 * own mail system is touched. Needs root, as Postfix does.
 */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, listens } from '../support/loopback.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';
import { SENDER_DOMAIN } from './message.ts';
import { type Program, startProgram, until } from './program.ts';
import type { Workspace } from './workspace.ts';

export type PostfixPeer = AsyncDisposable & {
  port: number;
  /** Whose process trees are the system under test. */
  pids: number[];
};

export type PostfixPeerOptions = {
  /** Sessions in and connections out. */
  concurrency: number;
} & (
  | { job: 'send'; sinkPort: number }
  /** Every message is put on hold as soon as it is on disk, unsigned. */
  | {
      job: 'accept';
      /** Port of a milter that checks each message. */
      milterPort?: number;
      /** Begins every connection with TLS, as on port 465. */
      withTls?: boolean;
    }
);

const MASTER = '/usr/lib/postfix/sbin/master';
const OPENDKIM = '/usr/sbin/opendkim';
const START_TIMEOUT_MS = 15_000;

export async function startPostfixPeer(
  workspace: Workspace,
  options: PostfixPeerOptions,
): Promise<PostfixPeer> {
  const folder = workspace.newFolder('postfix');
  const opendkim = options.job === 'send' ? await startOpendkim(folder) : undefined;
  const port = await freePort();
  const configuration = join(folder, 'config');
  for (const name of ['config', 'queue', 'data']) mkdirSync(join(folder, name));
  writeFileSync(join(configuration, 'main.cf'), mainCf(folder, options, opendkim?.socket));
  const withTls = options.job === 'accept' && options.withTls === true;
  if (withTls)
    for (const name of ['key', 'chain'] as const) writeFileSync(join(folder, `${name}.pem`), EC_PAIR[name]);
  writeFileSync(join(configuration, 'master.cf'), masterCf(port, withTls));
  execFileSync('chown', ['postfix', join(folder, 'data')]);
  // Also makes the folders of the queue.
  execFileSync('/usr/sbin/postfix', ['-c', configuration, 'check'], { stdio: ['ignore', 'ignore', 'pipe'] });
  // master(8): with -s it stays the process we started.
  const master = startProgram(MASTER, ['-c', configuration, '-s']);
  const stop = async () => {
    await master.stop();
    await opendkim?.program.stop();
  };
  try {
    await until('Postfix listens', START_TIMEOUT_MS, () => listens(port));
  } catch (error) {
    await stop();
    throw new Error(`Postfix did not start: ${logEnd(folder)}`, { cause: error });
  }
  return {
    port,
    pids: [master.pid, ...(opendkim ? [opendkim.program.pid] : [])],
    [Symbol.asyncDispose]: stop,
  };
}

async function startOpendkim(folder: string): Promise<{ program: Program; socket: string }> {
  const socket = join(folder, 'opendkim.sock');
  const keyFile = join(folder, 'key.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const configuration = join(folder, 'opendkim.conf');
  writeFileSync(configuration, opendkimConf({ socket, keyFile }));
  const program = startProgram(OPENDKIM, ['-f', '-x', configuration]);
  await until('OpenDKIM has its socket', START_TIMEOUT_MS, () => {
    try {
      chmodSync(socket, 0o666);
      return true;
    } catch {
      return false;
    }
  });
  return { program, socket };
}

/** opendkim.conf(5). Only signs, in its usual modes, and writes no log. */
function opendkimConf(options: { socket: string; keyFile: string }): string {
  return `
Mode s
Socket local:${options.socket}
Domain ${SENDER_DOMAIN}
Selector bench
KeyFile ${options.keyFile}
RequireSafeKeys no
Canonicalization relaxed/relaxed
SignatureAlgorithm rsa-sha256
InternalHosts 127.0.0.1
Background no
Syslog no
`;
}

/**
 * postconf(5). Beyond the defaults: room for all sessions (`default_process_limit`), no brake on incoming mail
 * (`in_flow_delay`), a large active queue, as many connections out as sessions in. Nothing is looked up in DNS.
 */
function mainCf(folder: string, options: PostfixPeerOptions, milter: string | undefined): string {
  const settings: Record<string, string | number> = {
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    maillog_file: join(folder, 'log'),
    maillog_file_prefixes: folder,
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    myhostname: 'peer.test',
    mydestination: '',
    mynetworks: '127.0.0.0/8',
    alias_maps: '',
    alias_database: '',
    smtp_dns_support_level: 'disabled',
    smtpd_peername_lookup: 'no',
    smtpd_client_connection_count_limit: 0,
    default_process_limit: 120,
    in_flow_delay: 0,
    qmgr_message_active_limit: 20_000,
    smtp_destination_concurrency_limit: options.concurrency,
    initial_destination_concurrency: options.concurrency,
  };
  if (options.job === 'send') {
    settings['relayhost'] = `[127.0.0.1]:${options.sinkPort}`;
    settings['smtpd_milters'] = `unix:${milter}`;
    settings['milter_default_action'] = 'tempfail';
  } else {
    settings['smtpd_recipient_restrictions'] = 'permit_mynetworks';
    settings['smtpd_data_restrictions'] = 'check_client_access static:HOLD';
    if (options.milterPort !== undefined) settings['smtpd_milters'] = `inet:127.0.0.1:${options.milterPort}`;
    settings['milter_default_action'] = 'tempfail';
    if (options.withTls) {
      settings['smtpd_tls_cert_file'] = join(folder, 'chain.pem');
      settings['smtpd_tls_key_file'] = join(folder, 'key.pem');
    }
  }
  return `${Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n')}\n`;
}

/** master(5): service, type, private, unprivileged, chroot, wake-up, most processes, command. */
function masterCf(port: number, withTls: boolean): string {
  return `
127.0.0.1:${port} inet n - n - - smtpd${withTls ? ' -o smtpd_tls_wrappermode=yes' : ''}
tlsmgr   unix - - n 1000? 1 tlsmgr
postlog  unix-dgram n - n - 1 postlogd
cleanup  unix n - n -    0 cleanup
qmgr     unix n - n 300  1 qmgr
rewrite  unix - - n -    - trivial-rewrite
bounce   unix - - n -    0 bounce
defer    unix - - n -    0 bounce
trace    unix - - n -    0 bounce
verify   unix - - n -    1 verify
proxymap unix - - n -    - proxymap
smtp     unix - - n -    - smtp
relay    unix - - n -    - smtp
error    unix - - n -    - error
retry    unix - - n -    - error
anvil    unix - - n -    1 anvil
scache   unix - - n -    1 scache
`;
}

function logEnd(folder: string): string {
  try {
    return readFileSync(join(folder, 'log'), 'utf8').slice(-1_000);
  } catch {
    return 'no log';
  }
}
