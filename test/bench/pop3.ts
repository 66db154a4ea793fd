/**
 * Postrider and Debian's Dovecot, with maildir and with mdbox, all with TLS and with the same messages, as a mail program uses them that
 * fetches a whole maildrop by POP3.
 */
import { installPackages } from '../support/debian.ts';
import { DOVECOT_PACKAGES, type Format, startDovecot } from './imap/dovecot-peer.ts';
import { startPostriderImap } from './imap/postrider-server.ts';
import { fillSystem, type ImapServer } from './imap/system.ts';
import { Pop3Connection } from './pop3/client.ts';
import type { Group, Measure, Row } from './row.ts';

const INBOX = 'INBOX';

type Server = ImapServer & { pop3Port: number };

/** Returns the group for maildrops of this size. */
export function pop3(messages: number): Group {
  return {
    name: 'pop3',
    async prepare(workspace) {
      if (process.getuid?.() !== 0) return { unavailable: 'Dovecot runs only as root' };
      const reason = installPackages({ ...DOVECOT_PACKAGES, 'dovecot-pop3d': '/usr/lib/dovecot/pop3' });
      if (reason !== undefined) return { unavailable: reason };
      const dovecot = (format: Format) => once(async () => fill(await startDovecot(workspace, format, 1)));
      const systems = {
        maildir: dovecot('maildir'),
        mdbox: dovecot('mdbox'),
        postrider: once(async () => fill(await startPostriderImap(workspace, 1))),
      };
      return { rows: [...compare('one after the other', systems), ...compare('pipelined', systems)] };
    },
  };

  async function fill<Filled extends Server>(server: Filled): Promise<Filled> {
    const filled = await fillSystem(server, messages, INBOX);
    await filled.settle();
    return filled;
  }

  function compare(way: Way, systems: Record<Format | 'postrider', () => Promise<Server>>): Row[] {
    const job = `POP3, ${way}` as const;
    const name = `login, STAT, UIDL, LIST and RETR of all, ${way}`;
    const run = (system: () => Promise<Server>) => async () => await fetchAll(await system(), messages, way);
    const peer = { job, role: 'peer' } as const;
    return [
      { name: `Dovecot maildir: ${name}`, unit: 'ms', comparison: peer, measure: run(systems.maildir) },
      { name: `Dovecot mdbox: ${name}`, unit: 'ms', comparison: peer, measure: run(systems.mdbox) },
      {
        ...{ name: `Postrider: ${name}`, unit: 'ms', aim: '<= 1 x' },
        ...{ comparison: { job, role: 'measured' }, measure: run(systems.postrider) },
      },
    ];
  }
}

type Way = 'one after the other' | 'pipelined';

/** Fetches the maildrop of the first user. Most mail programs ask for one message after the other. */
async function fetchAll({ pop3Port, users }: Server, messages: number, way: Way): Promise<Measure> {
  const [user] = users;
  if (!user) throw new Error('the server has no users');
  const details: Record<string, number> = {};
  let figure = 0;
  async function time<Value>(name: string, run: () => Promise<Value>): Promise<Value> {
    const startedAt = performance.now();
    const value = await run();
    const ms = performance.now() - startedAt;
    details[`${name}, ms`] = ms;
    figure += ms;
    return value;
  }
  const connection = await time('login', () => Pop3Connection.login(pop3Port, user));
  try {
    await time('STAT', () => connection.short('STAT'));
    await time('UIDL', () => connection.long('UIDL'));
    await time('LIST', () => connection.long('LIST'));
    const commands = Array.from({ length: messages }, (_, index) => `RETR ${index + 1}`);
    await time('RETR of all', async () => {
      if (way === 'pipelined') await connection.long(...commands);
      else for (const command of commands) await connection.long(command);
    });
    return { figure, details };
  } finally {
    connection.close();
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
