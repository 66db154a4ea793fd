/** The world that checks look at in tests: a zone as text, without connections. */
import type { CheckContext, Finding } from '../../src/doctor/check.ts';
import { NO_STANDBY } from '../../src/standby/standby.ts';
import { openTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';
import { type ZoneDns, zoneDns } from '../support/zone-dns.ts';

export type DoctorWorld = AsyncDisposable & TestApp & { dns: ZoneDns; context: CheckContext };

/** Opens an app whose hostname is mx.postrider.example, with the address 192.0.2.1. */
export async function openDoctorWorld(options: TestAppOptions = {}): Promise<DoctorWorld> {
  const dns = zoneDns('');
  const opened = await openTestApp({ ...options, system: { dns, ...options.system } });
  const context: CheckContext = {
    ...opened.app,
    addresses: async () => ['192.0.2.1'],
    certificates: { list: async () => [] },
    moreRecords: [],
    standby: NO_STANDBY,
    resolvers: () => ['127.0.0.1'],
    machine: { askClockSync: async () => 'unknown', listListeningPorts: async () => undefined },
  };
  return { ...opened, dns, context };
}

/** Returns findings in one line each, such as `fail 192.0.2.1: it has no reverse DNS`. */
export function lines(findings: readonly Finding[]): string[] {
  return findings.map(({ level, subject, says }) => `${level} ${subject}: ${says}`);
}
