/**
 * Dovecot as Debian configures it, with TLS, in a folder of its own: nothing of the machine's own mail is touched. Needs root, as
 * Dovecot does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCertificate } from '../../interop/certificate.ts';
import { freePort, listens } from '../../support/loopback.ts';
import { startProgram, until } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import type { ImapServer } from './system.ts';

export type Format = 'maildir' | 'mdbox';

/** Packages that Dovecot needs, with a program of each. */
export const DOVECOT_PACKAGES = {
  'dovecot-core': '/usr/sbin/dovecot',
  'dovecot-imapd': '/usr/lib/dovecot/imap',
  openssl: '/usr/bin/openssl',
};
/** Names in the certificate: one of tests that have a DNS server, and one that every program can look up. */
export const DOVECOT_HOST = 'peer.test';
const LOCAL_HOST = 'localhost';

const DOVECOT = '/usr/sbin/dovecot';
/** POP3 is a package of its own, which only its benchmark installs. */
const POP3 = '/usr/lib/dovecot/pop3';
const START_TIMEOUT_MS = 15_000;
const PASSWORD = 'secret-word';
const OUTPUT_KEPT = 2_000;

/** `certificate` is a file in PEM. */
export type DovecotPeer = ImapServer & { certificate: string; pop3Port: number };

/** Starts Dovecot, which stores the mail of each user in this format. It ends with this program. */
export async function startDovecot(
  workspace: Workspace,
  format: Format,
  users: number,
): Promise<DovecotPeer> {
  const folder = workspace.newFolder(`dovecot-${format}`);
  mkdirSync(join(folder, 'mail'));
  execFileSync('chown', ['nobody:nogroup', join(folder, 'mail')]);
  const [port, pop3Port] = [await freePort(), await freePort()];
  const certificate = await writeCertificate(folder, DOVECOT_HOST, LOCAL_HOST);
  writeFileSync(join(folder, 'dovecot.conf'), configuration({ folder, format, port, pop3Port, certificate }));
  const program = startProgram(DOVECOT, ['-F', '-c', join(folder, 'dovecot.conf')]);
  try {
    await until('Dovecot listens', START_TIMEOUT_MS, () => listens(port));
  } catch (error) {
    await program.stop();
    const log = readFileSync(join(folder, 'log'), 'utf8').slice(-OUTPUT_KEPT);
    throw new Error(`Dovecot did not start: ${log}`, { cause: error });
  }
  return {
    port,
    pop3Port,
    certificate: certificate.certificate,
    pids: [program.pid],
    users: Array.from({ length: users }, (_, index) => ({ username: `user${index}`, password: PASSWORD })),
    [Symbol.asyncDispose]: program.stop,
    // Everything is done when a client asks for it.
    async settle() {},
    async forgetStructure(name) {
      const mail = join(folder, 'mail', 'user0');
      const index =
        format === 'maildir' ? join(mail, `.${name}`) : join(mail, 'mailboxes', name, 'dbox-Mails');
      rmSync(join(index, 'dovecot.index.cache'));
    },
  };
}

type Configuration = {
  folder: string;
  format: Format;
  port: number;
  pop3Port: number;
  certificate: { key: string; certificate: string };
};

/** dovecot.conf(5). Beyond the defaults: no limit for connections of one address, and as many logins at a time as there may be. */
function configuration({ folder, format, port, pop3Port, certificate }: Configuration): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap ${existsSync(POP3) ? 'pop3' : ''}
listen = 127.0.0.1
ssl = required
ssl_cert = <${certificate.certificate}
ssl_key = <${certificate.key}
mail_location = ${format}:${folder}/mail/%n
mail_max_userip_connections = 0
first_valid_uid = 1
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${folder}/mail/%n
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${port}
    ssl = yes
  }
  process_limit = 1000
}
service imap {
  process_limit = 1000
}
service pop3-login {
  inet_listener pop3 {
    port = 0
  }
  inet_listener pop3s {
    port = ${pop3Port}
    ssl = yes
  }
}
`;
}
