/** A daemon with mailboxes, whose mail programs use IMAP and whose programs use the HTTP API. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { loadConfig } from '../../src/config/config.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createMailboxKey } from '../../src/mailboxes/api-keys/create.ts';
import type { MailboxAccess } from '../../src/mailboxes/api-keys/schemas.ts';
import { createMailbox } from '../../src/mailboxes/create.ts';
import { type Daemon, startDaemon } from '../../src/main.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import type { System } from '../../src/system/system.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { createClient, type TestClient } from '../mail/imap/fixture.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import type { TestResponse } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

export const PASSWORD = 'correct horse battery';
export const DOMAIN = 'sandbox.mx.people.example';

type Answer = Pick<TestResponse, 'status' | 'body'> & { headers: Headers; bytes: Buffer };

export type World = {
  daemon: Daemon;
  tenantId: Id<'ten'>;
  /** An API key of the tenant with full access, as its administrators have. */
  tenantKey: string;
  addMailbox(name: string): Promise<MailboxRow>;
  /** Makes a key of a mailbox. */
  addKey(mailbox: MailboxRow, access?: MailboxAccess): Promise<{ id: string; token: string }>;
  /** Asks the API with a key. */
  ask(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Logs in by IMAP, and runs commands, each of which must succeed. */
  imap(name: string, ...commands: string[]): Promise<TestClient>;
  close(): Promise<void>;
};

export async function openWorld(overrides: Partial<System> = {}): Promise<World> {
  const dns: DnsServer = await startDnsServer();
  const env = {
    POSTRIDER_DATA_DIR: newDataDirectory(),
    POSTRIDER_HOSTNAME: 'mx.people.example',
    ...FREE_PORTS,
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_PORT: '0',
    POSTRIDER_SUBMISSION_TLS_PORT: '0',
    POSTRIDER_STORAGE_RESERVE_MEGABYTES: '0',
    POSTRIDER_LOG_LEVEL: 'silent',
    POSTRIDER_DNS_SERVERS: dns.address,
  };
  const daemon = await startDaemon(loadConfig({ env }), overrides);
  const { app } = daemon;
  const clients: TestClient[] = [];
  const now = app.clock.now();
  const tenantId = newId('ten', now);
  await app.db.commit(insertTenant, { id: tenantId, name: 'people', plan: 'unlimited', createdAt: now });
  const full = { name: 'key', mode: 'live', permission: 'full_access', expiresAt: null } as const;
  const { token: tenantKey } = await createApiKey(app, { tenantId, ...full });
  return {
    daemon,
    tenantId,
    tenantKey,
    async addMailbox(name) {
      const mailbox = await createMailbox(app, tenantId, {
        address: `${name}@${DOMAIN}`,
        password: PASSWORD,
      });
      await waitUntil(async () => (await daemon.accessAddresses()) !== undefined);
      return mailbox;
    },
    async addKey(mailbox, access = 'send') {
      const wanted = { name: 'agent', access };
      const { key, token } = await createMailboxKey(app, tenantId, { mailboxId: mailbox.id, wanted });
      return { id: key.id, token };
    },
    async ask(key, method, path, body, given = {}) {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...given,
      };
      const answer = await fetch(`${daemon.address}/v1${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      return {
        status: answer.status,
        headers: answer.headers,
        bytes,
        body: isJson ? JSON.parse(bytes.toString()) : undefined,
      };
    },
    async imap(name, ...commands) {
      const [address = ''] = (await daemon.accessAddresses())?.imap ?? [];
      const port = Number(address.split(':').at(-1));
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['imap'] });
      const client = createClient(socket);
      clients.push(client);
      await once(socket, 'secureConnect');
      await client.line();
      for (const command of [`LOGIN ${name}@${DOMAIN} "${PASSWORD}"`, ...commands])
        assert.match((await client.ask(command)).at(-1) ?? '', /^OK/, command);
      return client;
    },
    async close() {
      for (const { socket } of clients) socket.destroy();
      await daemon.stop();
      await dns.close();
    },
  };
}

/** Returns the command that adds a message to a folder. */
export function append(folder: string, message: string, flags = ''): string {
  const octets = message.replace(/\r?\n/g, '\r\n');
  return `APPEND ${folder} (${flags}) {${Buffer.byteLength(octets)}+}\r\n${octets}`;
}
