/**
 * A real Exim that sends one message, since no other sender of Debian uses BDAT (CHUNKING, RFC 3030). Its package cannot
 * be installed beside that of Postfix, so that its program is unpacked into a folder of its own. The account that the
 * program was built with exists only in the namespace in which it runs. Needs root.
 */
import { execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';

export type Exim = {
  /** Sends a message with LF line ends. Resolves with the log of the delivery. */
  send(options: { port: number; from: string; to: string; message: string }): Promise<string>;
};

const run = promisify(execFile);

const PACKAGE = 'exim4-daemon-light';
/** Account that the program of the package was built with. It refuses to start where this account does not exist. */
const ACCOUNT = 'Debian-exim';
const ACCOUNT_ID = 65533;
/** nobody and nogroup on Debian, as which the program runs. */
const NOBODY = 65534;

/** Runs a program where the account exists: files that are mounted over others are seen by this program alone. */
const WITH_ACCOUNT = `
mount --bind passwd /etc/passwd && mount --bind group /etc/group && exec "$@"`;

/** Unpacks the program. */
export async function unpackExim(hostname: string): Promise<Exim> {
  const home = temporaryDirectory('exim');
  await chmod(home, 0o755);
  await run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', PACKAGE], { cwd: home });
  await run('sh', ['-c', 'dpkg -x *.deb .'], { cwd: home });
  const passwd = await readFile('/etc/passwd', 'utf8');
  const group = await readFile('/etc/group', 'utf8');
  const ids = `${ACCOUNT_ID}:${ACCOUNT_ID}`;
  await writeFile(join(home, 'passwd'), `${passwd}${ACCOUNT}:x:${ids}::/nonexistent:/usr/sbin/nologin\n`);
  await writeFile(join(home, 'group'), `${group}${ACCOUNT}:x:${ACCOUNT_ID}:\n`);
  const exim = join(home, 'usr/sbin/exim4');
  const spool = join(home, 'spool');
  await mkdir(spool);
  await chown(spool, NOBODY, NOBODY);
  return {
    async send({ port, from, to, message }) {
      await writeFile(join(home, 'exim.conf'), configuration({ hostname, exim, spool, port }));
      const program = [exim, '-C', join(home, 'exim.conf'), '-odf', '-oi', '-f', from, to];
      const child = spawn('unshare', ['--mount', 'sh', '-c', WITH_ACCOUNT, 'sh', ...program], {
        cwd: home,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      // With a configuration of ours it runs without privileges, and logs what it delivers to standard error.
      const log = text(child.stderr);
      child.stdin.end(message);
      return log;
    },
  };
}

type Settings = { hostname: string; exim: string; spool: string; port: number };

/** The Exim specification, chapters 14, 20 and 30. Chunking is tried with every server that offers it. */
function configuration({ hostname, exim, spool, port }: Settings): string {
  return `
primary_hostname = ${hostname}
exim_path = ${exim}
spool_directory = ${spool}
log_file_path = ${spool}/%slog
exim_user = nobody
exim_group = nogroup
keep_environment =
begin routers
all:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = out
begin transports
out:
  driver = smtp
  port = ${port}
  allow_localhost
  hosts_require_tls = *
`;
}
