/** Servers that mail is imported from, and runs of imports into mailboxes in memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createServer } from 'node:tls';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import { createImport } from '../../src/mailbox-imports/create.ts';
import { createTargetCalls } from '../../src/mailbox-imports/reader.ts';
import type { RunEnd, RunRequest, TargetCalls } from '../../src/mailbox-imports/run.ts';
import { runImport } from '../../src/mailbox-imports/run-import.ts';
import { endImport } from '../../src/mailbox-imports/store.ts';
import { createCertificateStore } from '../../src/system/certificates.ts';
import { createDial } from '../../src/system/dial.ts';
import type { System } from '../../src/system/system.ts';
import { startServer } from '../mail/imap/fixture.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { type AccountMail, createEmptyMail, USER } from '../support/account-mail.ts';
import { ANY_TARGET } from '../support/any-target.ts';
import type { TestApp } from '../support/test-app.ts';
import { TRUSTED_HOST, trustCertificate } from '../support/trusted-certificate.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { beginRuns } from './begin.ts';
import { type MemoryContents, memoryContents } from './transfer/memory-contents.ts';

export const HOST = TRUSTED_HOST;

/** The system of tests that connect to servers on loopback by name. */
export function sourceSystem(clock: System['clock']): Pick<System, 'clock' | 'dns' | 'targets' | 'dial'> {
  const targets = ANY_TARGET;
  return { clock, dns: zoneDns(`${HOST} A 127.0.0.1`), targets, dial: createDial(targets, clock) };
}

/** Starts our own IMAP server, behind TLS. Returns its port. */
export async function startSource(
  t: Pick<TestContext, 'after'>,
  { mail: given, mode = 'immediate' }: { mail?: AccountMail; mode?: 'immediate' | 'starttls' } = {},
): Promise<{ port: number; mail: AccountMail }> {
  const mail = given ?? (await createEmptyMail());
  const { certificate, key } = await trustCertificate();
  const certificates = createCertificateStore([{ chain: certificate, key }]);
  const { port } = await startServer(t, { mail, tls: { mode, certificates } });
  return { port, mail };
}

/** Answers a command, without its tag, in a session of a scripted server. Undefined leaves it unanswered. */
export type Script = (command: string, socket: Socket) => string | undefined | Promise<string | undefined>;

/** Starts a server that answers as a script says, and else, to the first commands of every client, as servers do. Returns its port. */
export async function startScripted(
  t: Pick<TestContext, 'after'>,
  script: Script,
  {
    isPlain = false,
    greeting = '* OK [CAPABILITY IMAP4rev1] hello',
  }: { isPlain?: boolean; greeting?: string | undefined } = {},
): Promise<number> {
  const { certificate, key } = await trustCertificate();
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(`${greeting}\r\n`);
    let input = '';
    socket.on('data', async (chunk) => {
      input += chunk.toString('latin1');
      for (let end = input.indexOf('\r\n'); end >= 0; end = input.indexOf('\r\n')) {
        const [, tag = '', command = ''] = /^(\S+) (.*)$/.exec(input.slice(0, end)) ?? [];
        input = input.slice(end + 2);
        const answer = (await script(command, socket)) ?? usualAnswer(command);
        if (answer !== undefined) socket.write(answer.replaceAll('TAG', tag));
      }
    });
  };
  const server = isPlain ? createPlainServer(serve) : createServer({ cert: certificate, key }, serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function usualAnswer(command: string): string | undefined {
  if (/^(LOGIN|NOOP|LOGOUT) ?/.test(command)) return 'TAG OK done\r\n';
  if (command === 'CAPABILITY') return '* CAPABILITY IMAP4rev1\r\nTAG OK done\r\n';
  if (/^(LIST|LSUB) "" ""/.test(command)) return '* LIST (\\Noselect) "/" ""\r\nTAG OK done\r\n';
  if (/^(LIST|LSUB)/.test(command)) return '* LIST () "/" INBOX\r\nTAG OK done\r\n';
  return undefined;
}

export type Importer = {
  mailbox: MailboxRow;
  contents: MemoryContents;
  /** Calls of the runs, which a test may replace. */
  target: TargetCalls;
  spoolFolder: string;
  /** Makes a run of a new import, and returns its end with the counts and the errors. */
  run(
    port: number,
    settings?: Partial<{
      host: string;
      user: string;
      password: string;
      security: 'tls' | 'starttls';
      hasLoggedIn: boolean;
      /** Counts of earlier runs. */
      found: typeof NO_COUNTS;
      /** Messages that earlier runs could not import. */
      failed: RunRequest['failed'];
    }> & { beforeTurn?(): Promise<void> },
  ): Promise<{
    end: RunEnd;
    counts: typeof NO_COUNTS;
    errors: { folder: string; uid: number; message: string }[];
  }>;
};

let mailboxes = 0;

/** Adds a mailbox, and returns what imports into it. */
export async function createImporter(
  world: TestApp,
  system: Partial<Pick<System, 'clock' | 'dns' | 'targets' | 'dial'>> = {},
  disk: Pick<TestApp['app']['disk'], 'requireReserve'> = world.app.disk,
): Promise<Importer> {
  const { app } = world;
  const mailbox = await addMailbox(world, { address: `import${++mailboxes}@people.example` });
  const contents = memoryContents();
  const targets = ['Drafts', 'Sent', 'Junk', 'Trash', 'Archive'].map((name) => ({
    name,
    mailboxId: name,
    specialUse: `\\${name}`,
  }));
  const target = createTargetCalls({ ...app, disk }, { contents, listTargets: async () => targets });
  const spoolFolder = join(world.dataDir, 'spool', mailbox.id);
  return {
    mailbox,
    contents,
    target,
    spoolFolder,
    async run(port, { beforeTurn, hasLoggedIn = false, found = NO_COUNTS, failed = [], ...settings } = {}) {
      const { username: user, password } = USER;
      const wanted = { host: HOST, user, password, security: 'tls' as const, ...settings, port };
      const row = await createImport(app, world.tenantId, { mailboxId: mailbox.id, wanted });
      const [{ lease } = assert.fail('no import is due')] = await beginRuns(app);
      await beforeTurn?.();
      let counts = NO_COUNTS;
      const errors: { folder: string; uid: number; message: string }[] = [];
      const recording: TargetCalls = {
        ...target,
        async advance(input) {
          counts = input.counts;
          errors.push(...input.errors);
          return target.advance(input);
        },
      };
      const end = await runImport(
        { ...app, ...sourceSystem(app.clock), ...system },
        {
          id: row.id,
          mailboxId: mailbox.id,
          settings: { ...wanted, hasLoggedIn },
          counts: found,
          failed,
          spoolFolder,
        },
        { target: recording, isStopping: () => false, onConnection: () => {} },
      );
      // The import ends, so that a later test does not lease it instead of its own.
      const outcome = { status: 'completed', reason: null, error: null } as const;
      await app.db.commit(endImport, { lease, now: app.clock.now(), ...outcome });
      return { end, counts, errors };
    },
  };
}
