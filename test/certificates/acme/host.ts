/** An app that orders certificates from the small authority, whose tasks a test runs itself. */
import { createChallenges, type OfferedChallenges } from '../../../src/certificates/acme/challenges.ts';
import { createOrderKind } from '../../../src/certificates/acme/kind.ts';
import { updateNames } from '../../../src/certificates/acme/names.ts';
import { findCertificate, renewNow } from '../../../src/certificates/acme/store.ts';
import type { AcmeCertificateRow } from '../../../src/db/own-tables.ts';
import type { TargetGuard } from '../../../src/system/blocklist.ts';
import { createFetch } from '../../../src/system/fetch.ts';
import type { RunningWork } from '../../../src/system/worker.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { type AcmeAuthority, type Behaviour, startAuthority } from '../../support/acme-authority.ts';
import { ANY_TARGET } from '../../support/any-target.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { NO_TEXTS, PublishedTexts } from '../../support/published-texts.ts';
import { recordLog } from '../../support/record-log.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { openTestApp, type TestApp } from '../../support/test-app.ts';
import { type ZoneDns, zoneDns } from '../../support/zone-dns.ts';

export const HOSTNAME = 'mx.postrider.example';
export const START = Date.UTC(2030, 0, 1);
/** Host of the public pages. A file of the configuration has its certificate unless a test says otherwise. */
const PAGES = `track.${HOSTNAME}`;
/** Zone in which the hostname has an address. */
export const ZONE = `${HOSTNAME} A 192.0.2.1`;

export type OrderingHost = AsyncDisposable & {
  test: TestApp;
  app: TestApp['app'];
  clock: FakeClock;
  dns: ZoneDns;
  authority: AcmeAuthority;
  challenges: OfferedChallenges;
  /** Texts in the part of DNS that is written here: the zone of the hostname, if the test says so. */
  published: PublishedTexts;
  lines: ReturnType<typeof recordLog>['lines'];
  /** Brings the list of names up to date. */
  updateNames(): Promise<void>;
  /** Runs the tasks that are due, and returns their names. */
  run(): Promise<string[]>;
  /** Runs due tasks by itself until it is stopped, as the daemon does. */
  startTasks(): RunningWork;
  /** Makes the renewal of the hostname due, and runs it. */
  renew(): Promise<void>;
  row(name?: string): Promise<AcmeCertificateRow>;
};

type Options = {
  env?: Record<string, string>;
  behaviour?: Partial<Behaviour>;
  configured?: readonly string[];
  /** Which addresses may be connected to: every one unless it is given. */
  targets?: TargetGuard;
  /** Returns the URL of the directory at a port, which leads to the authority unless it is given. */
  directoryOf?: (port: string) => string;
  /** True when texts of the zone of the hostname are published here. */
  writesDns?: boolean;
};

export async function openOrderingHost({
  env,
  behaviour,
  configured = [PAGES],
  targets = ANY_TARGET,
  directoryOf,
  writesDns = false,
}: Options = {}): Promise<OrderingHost> {
  const clock = createFakeClock(START);
  const challenges = createChallenges();
  const authority = await startAuthority({
    now: () => clock.now(),
    validate: ({ name, token, keyAuthorization }) =>
      challenges.answerHttp(name, token) === keyAuthorization ? undefined : 'wrong answer',
    ...behaviour,
  });
  const dns = zoneDns(ZONE);
  const { log, lines } = recordLog('info');
  const test = await openTestApp({
    system: { clock, dns, log, fetch: createFetch(targets, dns) },
    env: {
      POSTRIDER_HOSTNAME: HOSTNAME,
      POSTRIDER_ACME_DIRECTORY: directoryOf?.(new URL(authority.directory).port) ?? authority.directory,
      POSTRIDER_ACME_ACCEPT_TERMS: 'true',
      ...env,
    },
  });
  const certificates = {
    challenges,
    isConfigured: (name: string) => configured.includes(name),
    listUnusable: () => [],
  };
  const published = new PublishedTexts(test.app, {
    suffix: `.${HOSTNAME}`,
    show: (texts) => dns.setZone([ZONE, ...texts].join('\n')),
  });
  const places = { nameServer: writesDns ? published : NO_TEXTS, dnsUpdates: NO_TEXTS };
  const parts = { ...test.app, ...places, random: () => 0, certificates };
  const kind = createOrderKind(parts);
  return {
    ...{ test, clock, dns, authority, challenges, published, lines },
    app: test.app,
    updateNames: () => updateNames(parts),
    run: () => runDueTasks(test.app, kind),
    startTasks: () => startTasks(test.app, [kind]),
    async renew() {
      await test.app.db.commit(renewNow, { name: HOSTNAME, nextKeySealed: null, now: clock.now() });
      await runDueTasks(test.app, kind);
    },
    async row(name = HOSTNAME) {
      const row = await findCertificate(test.app.db.read, name);
      if (!row) throw new Error(`there is no ${name}`);
      return row;
    },
    async [Symbol.asyncDispose]() {
      await test.close();
      await authority[Symbol.asyncDispose]();
    },
  };
}
