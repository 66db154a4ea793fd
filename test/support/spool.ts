/** Driving the queue by hand: a tenant that may send, mail accepted over HTTP, and deliveries run when the test says so. */
import assert from 'node:assert/strict';
import { createQueueWork } from '../../src/queue/worker.ts';
import type { System } from '../../src/system/system.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { openTestApp, type TestApp } from './test-app.ts';
import { zoneDns } from './zone-dns.ts';

export const START_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const SENDER_DOMAIN = 'sender.example';

export type Spool = TestApp & {
  clock: FakeClock;
  dns: ReturnType<typeof zoneDns>;
  /** Adds lines to the zone, next to those of the sender's domain. */
  addZone(text: string): void;
  /** Accepts a live email from the verified domain; answers its id. */
  accept(to: string | string[], more?: object): Promise<string>;
  /** Claims and delivers everything due now; answers how many deliveries ran. */
  deliverDue(): Promise<number>;
  // biome-ignore lint/suspicious/noExplicitAny: what an API answered is what the test is about to find out.
  email(id: string): Promise<any>;
};

/** `smtpPort`: where every host of the zone is thought to listen. */
export async function openSpool(
  options: { smtpPort?: number; system?: Partial<System>; env?: Record<string, string> } = {},
): Promise<Spool> {
  const clock = createFakeClock(START_MS);
  const dns = zoneDns('');
  const testApp = await openTestApp({
    system: { clock, dns, random: () => 0.5, ...options.system },
    env: { POSTRIDER_OUTBOUND_SMTP_PORT: String(options.smtpPort ?? 25), ...options.env },
  });
  const { request, liveKey: key } = testApp;
  const created = await request('POST', '/v1/domains', { key, body: { name: SENDER_DOMAIN } });
  assert.equal(created.status, 201);
  const records = created.body.records as { type: string; name: string; value: string }[];
  let zone = records
    .map(({ type, name, value }) => `${name} ${type} ${type === 'TXT' ? JSON.stringify(value) : value}`)
    .join('\n');
  dns.setZone(zone);
  const verified = await request('POST', `/v1/domains/${created.body.id}/verify`, { key });
  assert.equal(verified.body.status, 'verified');
  const work = createQueueWork(testApp.app);
  return {
    ...testApp,
    clock,
    dns,
    addZone(text) {
      zone = `${zone}\n${text}`;
      dns.setZone(zone);
    },
    async accept(to, more = {}) {
      const body = {
        from: `Ada <ada@${SENDER_DOMAIN}>`,
        to,
        subject: 'Hi',
        text: 'Hello',
        type: 'transactional',
        ...more,
      };
      const accepted = await request('POST', '/v1/emails', { key, body });
      assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
      return accepted.body.id;
    },
    async deliverDue() {
      const deliveries = await work.lease(100);
      await Promise.all(deliveries.map((delivery) => work.run(delivery)));
      return deliveries.length;
    },
    email: async (id) => (await request('GET', `/v1/emails/${id}`, { key })).body,
  };
}

export const eventTypes = (email: { events: { type: string }[] }): string[] =>
  email.events.map((event) => event.type);
