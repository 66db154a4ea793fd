/**
 * A real Postfix: configuration, queue, log and mailboxes in a folder of its own, one port on 127.0.0.1, STARTTLS with a
 * self-signed certificate. It receives mail, and when it is told to, it also sends: mail for other domains, and bounces. It
 * looks nothing up in DNS. Needs root, as Postfix does.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { writeCertificate } from './certificate.ts';
import { until } from './until.ts';

export type PostfixOptions = {
  /** The one domain it receives for. */
  domain: string;
  /** Further domains, all of whose mail comes to the first mailbox. */
  otherDomains?: readonly string[];
  /** Chain and key in PEM that it offers in place of a self-signed certificate. */
  certificate?: { chain: string; key: string };
  /** Local parts that have a mailbox; RCPT for any other is refused with 550 5.1.1. */
  mailboxes: readonly string[];
  /** By local part, the reply to its RCPT (access(5): `450 4.2.0 Greylisted`). */
  replies?: Readonly<Record<string, string>>;
  /** Port of a milter on 127.0.0.1 that sees each message. */
  milterPort?: number;
  /**
   * Port of a server on 127.0.0.1 to which all mail for other domains goes, over STARTTLS. Without it, such mail is
   * refused.
   */
  relayPort?: number;
  /** Login with which such mail is handed over. */
  relayLogin?: { user: string; password: string };
  /** Port of an LMTP server on 127.0.0.1 that mail for the mailboxes is handed over to, instead of being stored. */
  lmtpPort?: number;
  /** Login of clients of two more ports, which take mail after a login over TLS alone: one by STARTTLS, one by implicit TLS. */
  login?: { user: string; password: string };
  /** Local parts of mailboxes whose mail is returned after it was accepted, because their command says that nobody is there. */
  returns?: readonly string[];
};

export type Postfix = {
  port: number;
  /** Ports that take mail after a login. They are open when `PostfixOptions` names one. */
  submissionPort: number;
  submissionsPort: number;
  /** File of the self-signed certificate. */
  certificate: string;
  hostname: string;
  /** The messages in a mailbox, as delivered, oldest first. */
  messages(localPart: string): Promise<string[]>;
  /** Replaces the replies of `PostfixOptions`; seen by every session that begins afterwards. */
  setReplies(replies: Readonly<Record<string, string>>): Promise<void>;
  log(): Promise<string>;
  stop(): Promise<void>;
};

const PROGRAM = '/usr/sbin/postfix';
/** Name of the pipe(8) service of `returns`. */
const RETURNER = 'returner';
/** Exit code 67 is EX_NOUSER (sysexits.h). Postfix returns the mail with the status and the text that were printed. */
const RETURNER_SCRIPT = `#!/bin/sh
echo '5.1.1 the mailbox has been removed'
exit 67
`;
const MASTER = '/usr/lib/postfix/sbin/master';
/** What no service of the machine runs as, and Postfix's virtual(8) may become: nobody and nogroup on Debian. */
const MAILBOX_OWNER = 65534;

export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  const home = temporaryDirectory('postfix');
  await chmod(home, 0o755);
  const hostname = `mx.${options.domain}`;
  const [port, submissionPort, submissionsPort] = [await freePort(), await freePort(), await freePort()];
  const configuration = join(home, 'config');
  for (const folder of ['config', 'queue', 'data', 'mail']) await mkdir(join(home, folder));
  const { certificate, key } = await writeCertificate(home, hostname);
  if (options.certificate) {
    await writeFile(certificate, options.certificate.chain);
    await writeFile(key, options.certificate.key);
  }
  const write = (name: string, text: string) => writeFile(join(configuration, name), text);
  const writeReplies = (replies: Readonly<Record<string, string>>) =>
    write(
      'replies',
      lines(replies, (part, reply) => `${part}@${options.domain} ${reply}`),
    );
  const { domain, otherDomains = [] } = options;
  const own = options.mailboxes.map((part) => [`${part}@${domain}`, `${part}/`]);
  const others = otherDomains.map((name) => [`@${name}`, `${options.mailboxes[0]}/`]);
  await write(
    'mailboxes',
    lines(Object.fromEntries([...own, ...others]), (address, folder) => `${address} ${folder}`),
  );
  await writeReplies(options.replies ?? {});
  await write(
    'transports',
    (options.returns ?? []).map((part) => `${part}@${options.domain} ${RETURNER}:\n`).join(''),
  );
  const { relayPort, relayLogin } = options;
  if (relayLogin)
    await write('relay-logins', `[127.0.0.1]:${relayPort} ${relayLogin.user}:${relayLogin.password}\n`);
  await write('main.cf', mainCf({ ...options, home, hostname }));
  const returner = join(configuration, RETURNER);
  await writeFile(returner, RETURNER_SCRIPT, { mode: 0o755 });
  const submission = options.login === undefined ? '' : submissionServices(submissionPort, submissionsPort);
  await write('master.cf', `${masterCf(port, returner)}${submission}`);
  if (options.login !== undefined) await writeLogins(home, options.login);
  const owner = [String(MAILBOX_OWNER), String(MAILBOX_OWNER)] as const;
  await promisify(execFile)('chown', [owner.join(':'), join(home, 'mail')]);
  await promisify(execFile)('chown', ['postfix', join(home, 'data')]);

  const log = () => readFile(join(home, 'log'), 'utf8').catch(() => '');
  // Also makes the folders of the queue.
  await promisify(execFile)(PROGRAM, ['-c', configuration, 'check']);
  const child = start(configuration);
  try {
    await until('Postfix listens', async () => {
      if (child.exitCode !== null) throw new Error(`Postfix ended with ${child.exitCode}`);
      return (await log()).includes('daemon started');
    });
  } catch (error) {
    child.kill('SIGTERM');
    throw new Error(`Postfix did not start:\n${await log()}`, { cause: error });
  }
  return {
    port,
    submissionPort,
    submissionsPort,
    certificate,
    hostname,
    messages: (localPart) => readMaildir(join(home, 'mail', localPart, 'new')),
    setReplies: writeReplies,
    log,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** `master -s` stays what we started, and takes all it started with it when it is told to end. */
function start(configuration: string): ChildProcess {
  const child = spawn(MASTER, ['-c', configuration, '-s'], { stdio: 'ignore' });
  const atExit = () => child.kill('SIGTERM');
  process.on('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  return child;
}

function mainCf(options: PostfixOptions & { home: string; hostname: string }): string {
  const settings: Record<string, string> = {
    compatibility_level: '3.6',
    queue_directory: join(options.home, 'queue'),
    data_directory: join(options.home, 'data'),
    maillog_file: join(options.home, 'log'),
    maillog_file_prefixes: options.home,
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    myhostname: options.hostname,
    mydestination: '',
    alias_maps: '',
    alias_database: '',
    ...(options.relayPort === undefined ? RECEIVES_ONLY : relaySettings(options.relayPort)),
    transport_maps: `texthash:${join(options.home, 'config', 'transports')}`,
    smtpd_peername_lookup: 'no',
    smtp_dns_support_level: 'disabled',
    virtual_mailbox_domains: [options.domain, ...(options.otherDomains ?? [])].join(' '),
    virtual_mailbox_base: join(options.home, 'mail'),
    virtual_mailbox_maps: `texthash:${join(options.home, 'config', 'mailboxes')}`,
    ...(options.lmtpPort !== undefined && { virtual_transport: `lmtp:inet:127.0.0.1:${options.lmtpPort}` }),
    virtual_uid_maps: `static:${MAILBOX_OWNER}`,
    virtual_gid_maps: `static:${MAILBOX_OWNER}`,
    smtpd_recipient_restrictions: `check_recipient_access texthash:${join(options.home, 'config', 'replies')}`,
    smtpd_tls_security_level: 'may',
    smtpd_tls_cert_file: join(options.home, 'certificate.pem'),
    smtpd_tls_key_file: join(options.home, 'key.pem'),
    smtpd_tls_received_header: 'yes',
    smtpd_tls_loglevel: '1',
    // A table that changed is read by new processes only, so that each serves one session.
    max_use: '1',
  };
  if (options.login !== undefined) {
    settings['smtpd_sasl_type'] = 'cyrus';
  }
  if (options.relayLogin !== undefined) {
    settings['smtp_sasl_auth_enable'] = 'yes';
    settings['smtp_sasl_password_maps'] = `texthash:${join(options.home, 'config', 'relay-logins')}`;
    settings['smtp_sasl_mechanism_filter'] = 'plain';
    settings['smtp_sasl_security_options'] = 'noanonymous';
  }
  if (options.milterPort !== undefined) {
    settings['smtpd_milters'] = `inet:127.0.0.1:${options.milterPort}`;
    settings['milter_default_action'] = 'tempfail';
  }
  return lines(settings, (name, value) => `${name} = ${value}`);
}

const RECEIVES_ONLY = {
  mynetworks: '',
  default_transport: 'error:this server only receives',
  relay_transport: 'error:this server only receives',
  smtpd_relay_restrictions: 'reject_unauth_destination',
};

/** postconf(5). Recipients that the other server puts off are tried again at once, and none is held back for its number. */
function relaySettings(port: number): Record<string, string> {
  return {
    mynetworks: '127.0.0.0/8',
    relayhost: `[127.0.0.1]:${port}`,
    smtp_host_lookup: 'native',
    smtp_tls_security_level: 'encrypt',
    smtp_tls_loglevel: '1',
    smtp_destination_recipient_limit: '1000',
    minimal_backoff_time: '1s',
    maximal_backoff_time: '2s',
    queue_run_delay: '1s',
    smtpd_relay_restrictions: 'permit_mynetworks, reject_unauth_destination',
  };
}

/**
 * master(5): service, type, private, unprivileged, chroot, wake-up, most processes, command. The queue manager wakes up each second:
 * mail that it finds while the attempt before still ends goes back to the incoming queue, which is read at a wake-up only.
 */
function masterCf(port: number, returner: string): string {
  return `
127.0.0.1:${port} inet n - n - - smtpd
postlog  unix-dgram n - n - 1 postlogd
cleanup  unix n - n -    0 cleanup
qmgr     unix n - n 1    1 qmgr
tlsmgr   unix - - n 1000? 1 tlsmgr
rewrite  unix - - n -    - trivial-rewrite
bounce   unix - - n -    0 bounce
defer    unix - - n -    0 bounce
trace    unix - - n -    0 bounce
proxymap unix - - n -    - proxymap
error    unix - - n -    - error
retry    unix - - n -    - error
virtual  unix - n n -    - virtual
smtp     unix - - n -    - smtp
lmtp     unix - - n -    - lmtp
scache   unix - - n -    1 scache
${RETURNER} unix - n n - - pipe user=nobody argv=${returner}
anvil    unix - - n -    1 anvil
`;
}

/** Services of master(5) that take mail from clients that log in over TLS. */
function submissionServices(port: number, tlsPort: number): string {
  const rules = `
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_tls_auth_only=yes
  -o smtpd_client_restrictions=permit_sasl_authenticated,reject`;
  return `127.0.0.1:${port} inet n - n - - smtpd${rules}
  -o smtpd_tls_security_level=encrypt
127.0.0.1:${tlsPort} inet n - n - - smtpd${rules}
  -o smtpd_tls_wrappermode=yes
`;
}

/** Writes the configuration of Cyrus SASL where Debian's Postfix looks for it, below its own configuration, and a database with one user. */
async function writeLogins(
  home: string,
  { user, password }: { user: string; password: string },
): Promise<void> {
  const [folder, database] = [join(home, 'config', 'sasl'), join(home, 'config', 'sasl', 'sasldb2')];
  await mkdir(folder);
  await writeFile(
    join(folder, 'smtpd.conf'),
    `pwcheck_method: auxprop\nauxprop_plugin: sasldb\nmech_list: PLAIN LOGIN\nsasldb_path: ${database}\n`,
  );
  const [name = '', realm = ''] = user.split('@');
  await execFileWithInput('saslpasswd2', ['-p', '-c', '-f', database, '-u', realm, name], password);
  await promisify(execFile)('chown', ['-R', 'postfix', folder]);
}

async function execFileWithInput(program: string, args: readonly string[], input: string): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  child.stdin.end(input);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

function lines(
  table: Readonly<Record<string, string>>,
  line: (name: string, value: string) => string,
): string {
  return `${Object.entries(table)
    .map(([name, value]) => line(name, value))
    .join('\n')}\n`;
}

/** A delivery is complete when it stands in `new` (maildir(5)); the names begin with the time. */
async function readMaildir(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(names.sort().map((name) => readFile(join(folder, name), 'latin1')));
}
